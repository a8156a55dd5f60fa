//! Random operations. A sequence works on few objects of few types, so that operations meet.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    mutation::Mutation,
    operation::{Body, Operation},
    random::Random,
};

/// One type: what an object needs at least, and what else to try.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Type {
    api_version: String,
    pub(crate) kind: String,
    plural: String,
    namespaced: bool,
    #[serde(default)]
    scale: bool,
    base: Map<String, Value>,
    #[serde(default)]
    status: Vec<Value>,
    /// Values for some fields, right and wrong ones.
    fields: Map<String, Value>,
}

static TYPES: LazyLock<Vec<Type>> =
    LazyLock::new(|| serde_json::from_str(include_str!("types.json")).unwrap());

const NAMES: [&str; 3] = ["a", "b", "c"];
const MANAGERS: [&str; 3] = ["one", "two", "three"];
const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

impl Type {
    pub(crate) fn collection(&self) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        let within = if self.namespaced { "namespaces/$ns/" } else { "" };
        format!("/{root}/{}/{within}{}", self.api_version, self.plural)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        if self.namespaced { name.to_owned() } else { format!("$ns-{name}") }
    }

    /// A valid object.
    pub(crate) fn object(&self, name: &str) -> Value {
        let mut object = self.base.clone();
        object.insert("apiVersion".to_owned(), json!(self.api_version));
        object.insert("kind".to_owned(), json!(self.kind));
        let metadata = json!({"name": self.name(name), "labels": {"name": name, "run": "$ns"}});
        object.insert("metadata".to_owned(), metadata);
        Value::Object(object)
    }
}

/// The types of a sequence.
pub(crate) fn types(seed: u64) -> Vec<&'static Type> {
    let mut random = Random::new(seed);
    (0..3).map(|_| random.pick(&TYPES)).collect()
}

/// A sequence of operations.
pub(crate) fn sequence(seed: u64, length: usize) -> Vec<Operation> {
    let mut random = Random::new(seed ^ 0x5eed);
    let types = types(seed);
    (0..length)
        .map(|at| {
            let ty = *random.pick(&types);
            let name = *random.pick(&NAMES);
            if at < 6 { creation(&mut random, ty, name) } else { any(&mut random, ty, name) }
        })
        .collect()
}

fn any(random: &mut Random, ty: &Type, name: &str) -> Operation {
    match random.below(100) {
        0..18 => creation(random, ty, name),
        18..26 => reading(random, ty, name),
        26..42 => update(random, ty, name),
        42..54 => merge(random, ty, name, MERGE),
        54..62 => json_patch(random, ty, name),
        62..76 => apply(random, ty, name),
        76..83 => merge(random, ty, name, STRATEGIC),
        83..88 => status(random, ty, name),
        88..91 => scale(random, ty, name),
        91..98 => deletion(random, ty, name),
        98 => collection_deletion(random, ty),
        _ => garbage(random, ty, name),
    }
}

fn operation(ty: &Type, method: &'static str, rest: String) -> Operation {
    Operation {
        method,
        kind: ty.kind.clone(),
        collection: ty.collection(),
        rest,
        query: Vec::new(),
        media: "",
        accept: JSON,
        body: Body::None,
    }
}

fn named(ty: &Type, method: &'static str, name: &str) -> Operation {
    operation(ty, method, format!("/{}", ty.name(name)))
}

fn creation(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let mut object = ty.object(name);
    if random.one_in(15) {
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("name");
        metadata.insert("generateName".to_owned(), json!(ty.name("made-")));
    }
    let body = Body::Value(object, mutations(random, ty, 2));
    written(random, Operation { media: JSON, body, ..operation(ty, "POST", String::new()) })
}

fn update(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let mut mutations = mutations(random, ty, 3);
    let stale = [json!("1"), json!(""), json!("x"), Value::Null];
    if random.one_in(6) {
        let version = random.pick(&stale).clone();
        mutations.push(Mutation::Set("/metadata/resourceVersion".to_owned(), version));
    }
    if random.one_in(30) {
        let uid = json!("11111111-1111-1111-1111-111111111111");
        mutations.push(Mutation::Set("/metadata/uid".to_owned(), uid));
    }
    let body = if random.one_in(4) {
        Body::Value(ty.object(name), mutations)
    } else {
        Body::Live(mutations)
    };
    written(random, Operation { media: JSON, body, ..named(ty, "PUT", name) })
}

fn merge(random: &mut Random, ty: &Type, name: &str, media: &'static str) -> Operation {
    let body = Body::Value(json!({}), mutations(random, ty, 3));
    written(random, Operation { media, body, ..named(ty, "PATCH", name) })
}

fn json_patch(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let operations: Vec<Value> = (0..=random.below(2)).map(|_| patch_step(random, ty)).collect();
    let body = Body::Value(Value::Array(operations), Vec::new());
    written(random, Operation { media: JSON_PATCH, body, ..named(ty, "PATCH", name) })
}

fn patch_step(random: &mut Random, ty: &Type) -> Value {
    let (pointer, value) = field(random, ty);
    let kinds = ["add", "replace", "remove", "test", "copy", "move", "add", "replace", "other"];
    let from = ["/metadata/labels/name", "/metadata/labels", "/spec", "/missing"];
    match *random.pick(&kinds) {
        "remove" => json!({"op": "remove", "path": pointer}),
        op @ ("copy" | "move") => json!({"op": op, "from": random.pick(&from), "path": pointer}),
        op => json!({"op": op, "path": pointer, "value": value}),
    }
}

fn apply(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let mut object = ty.object(name);
    if random.one_in(2) {
        object = json!({"apiVersion": ty.api_version, "kind": ty.kind,
            "metadata": {"name": ty.name(name)}});
    }
    let body = Body::Value(object, mutations(random, ty, 2));
    let mut operation = Operation { media: APPLY, body, ..named(ty, "PATCH", name) };
    if !random.one_in(30) {
        operation.query.push(("fieldManager", (*random.pick(&MANAGERS)).to_owned()));
    }
    if random.one_in(3) {
        operation.query.push(("force", "true".to_owned()));
    }
    written(random, operation)
}

fn status(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let mut operation = operation(ty, "PATCH", format!("/{}/status", ty.name(name)));
    let status =
        if ty.status.is_empty() { json!({"x": 1}) } else { random.pick(&ty.status).clone() };
    let mut mutations = vec![Mutation::Set("/status".to_owned(), status)];
    if random.one_in(4) {
        mutations.extend(self::mutations(random, ty, 1));
    }
    if random.one_in(3) {
        operation.method = "PUT";
        operation.media = JSON;
        operation.body = Body::Live(mutations);
    } else {
        operation.media = MERGE;
        operation.body = Body::Value(json!({}), mutations);
    }
    written(random, operation)
}

fn scale(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let mut operation = operation(ty, "GET", format!("/{}/scale", ty.name(name)));
    if ty.scale && random.one_in(2) {
        operation.method = "PATCH";
        operation.media = MERGE;
        let replicas =
            random.pick(&[json!(2), json!(0), json!(-1), json!("x"), Value::Null]).clone();
        operation.body = Body::Value(json!({"spec": {"replicas": replicas}}), Vec::new());
        return written(random, operation);
    }
    operation
}

fn reading(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let accept = [
        JSON,
        JSON,
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        "application/yaml",
        "text/html",
    ];
    let accept = *random.pick(&accept);
    if random.one_in(3) {
        return Operation { accept, ..named(ty, "GET", name) };
    }
    let mut operation = Operation { accept, ..operation(ty, "GET", String::new()) };
    let run = if random.one_in(6) { "bad selector(" } else { "run=$ns" };
    operation.query.push(("labelSelector", run.to_owned()));
    let further = [
        ("limit", "2"),
        ("limit", "x"),
        ("fieldSelector", "metadata.name=a"),
        ("fieldSelector", "metadata.name!=a,metadata.namespace=$ns"),
        ("fieldSelector", "spec.none=x"),
        ("resourceVersion", "0"),
        ("resourceVersion", "x"),
        ("resourceVersionMatch", "Exact"),
        ("continue", "x"),
    ];
    if random.one_in(2) {
        let (name, value) = *random.pick(&further);
        operation.query.push((name, value.to_owned()));
    }
    operation
}

fn deletion(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let mut operation = named(ty, "DELETE", name);
    let options = [
        json!({}),
        json!({"preconditions": {"uid": "$uid"}}),
        json!({"preconditions": {"uid": "other"}}),
        json!({"preconditions": {"resourceVersion": "1"}}),
        json!({"propagationPolicy": "Background"}),
        json!({"propagationPolicy": "Other"}),
        json!({"gracePeriodSeconds": 0}),
        json!({"gracePeriodSeconds": -5}),
        json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}),
        json!({"dryRun": ["Some"]}),
    ];
    if random.one_in(2) {
        operation.media = JSON;
        operation.body = Body::Value(random.pick(&options).clone(), Vec::new());
        if operation_is_dry(&operation) {
            operation.query.push(("dryRun", "All".to_owned()));
        }
    }
    operation
}

fn operation_is_dry(operation: &Operation) -> bool {
    matches!(&operation.body, Body::Value(value, _) if value["dryRun"][0] == "All")
}

fn collection_deletion(random: &mut Random, ty: &Type) -> Operation {
    let mut operation = operation(ty, "DELETE", String::new());
    let selector = format!("run=$ns,name in (a,{})", random.pick(&NAMES));
    operation.query.push(("labelSelector", selector));
    operation
}

fn garbage(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let texts = ["", "{", "[]", "null", "5", "{}", "\"x\"", "{\"a\":1,\"a\":2}", "a: b", "\u{1}"];
    let medias: [&str; 7] =
        [JSON, MERGE, JSON_PATCH, STRATEGIC, APPLY, "application/yaml", "text/plain"];
    let method = *random.pick(&["POST", "PUT", "PATCH"]);
    let base = if method == "POST" {
        operation(ty, method, String::new())
    } else {
        named(ty, method, name)
    };
    let media = *random.pick(&medias);
    let body = Body::Text((*random.pick(&texts)).to_owned());
    Operation { media, body, ..base }
}

/// A write with options.
fn written(random: &mut Random, mut operation: Operation) -> Operation {
    let is_apply = operation.media == APPLY;
    if !is_apply && random.one_in(3) {
        operation.query.push(("fieldManager", (*random.pick(&MANAGERS)).to_owned()));
    }
    if random.one_in(10) {
        operation.query.push(("dryRun", "All".to_owned()));
    }
    if random.one_in(4) {
        let validation = *random.pick(&["Strict", "Warn", "Ignore", "Other"]);
        operation.query.push(("fieldValidation", validation.to_owned()));
    }
    operation
}

/// Up to so many changes.
fn mutations(random: &mut Random, ty: &Type, most: usize) -> Vec<Mutation> {
    (0..random.below(most + 1)).map(|_| mutation(random, ty)).collect()
}

fn mutation(random: &mut Random, ty: &Type) -> Mutation {
    let values =
        [json!("text"), json!(7), json!(true), json!([]), json!({}), Value::Null, json!(-1)];
    match random.below(20) {
        0 => Mutation::Remove(random.below(64)),
        1 | 2 => Mutation::Replace(random.below(64), random.pick(&values).clone()),
        3 => Mutation::Unknown(random.below(16)),
        4 => Mutation::Repeat(random.below(8)),
        5..10 => metadata(random),
        _ => {
            let (pointer, value) = field(random, ty);
            Mutation::Set(pointer, value)
        }
    }
}

/// One of the type's own fields with a value to try.
fn field(random: &mut Random, ty: &Type) -> (String, Value) {
    let fields: Vec<_> = ty.fields.iter().collect();
    if fields.is_empty() || random.one_in(8) {
        return ("/metadata/labels/x".to_owned(), json!("y"));
    }
    let (pointer, values) = *random.pick(&fields);
    (pointer.clone(), random.pick(values.as_array().unwrap()).clone())
}

fn metadata(random: &mut Random) -> Mutation {
    let fields = [
        ("labels/x", json!("y")),
        ("labels/x", json!("not a label!")),
        ("labels/bad key", json!("x")),
        ("labels", Value::Null),
        ("annotations/note", json!("some text")),
        ("annotations/bad key", json!("x")),
        ("annotations/note", json!(1)),
        ("finalizers", json!(["example.com/a"])),
        ("finalizers", json!(["example.com/a", "example.com/b"])),
        ("finalizers", json!(["nodomain"])),
        ("finalizers", json!([])),
        ("name", json!("Bad_Name")),
        ("name", json!("other")),
        ("namespace", json!("elsewhere")),
        ("ownerReferences", json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o"}])),
        ("generation", json!(7)),
        ("creationTimestamp", json!("2020-01-01T00:00:00Z")),
        ("deletionTimestamp", json!("2020-01-01T00:00:00Z")),
        ("managedFields", json!([])),
        ("managedFields", json!([{}])),
        ("resourceVersion", json!("$rv")),
        ("uid", json!("$uid")),
        ("unknown", json!("x")),
        ("selfLink", json!("/x")),
        ("generateName", json!("g-")),
    ];
    let (field, value) = random.pick(&fields).clone();
    Mutation::Set(format!("/metadata/{field}"), value)
}
