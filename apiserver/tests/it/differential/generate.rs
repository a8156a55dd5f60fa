//! Random operations. A sequence works on few objects of few types, so that operations meet.

use serde_json::{Value, json};

use super::{
    mutation::Mutation,
    mutations::{field, mutations},
    operation::{Body, Operation, Sequence},
    random::Random,
    types::{TYPES, Type},
    watch::Watch,
    without_object::{collection_deletion, deletion, garbage, reading},
};

pub(crate) const NAMES: [&str; 3] = ["a", "b", "c"];
const MANAGERS: [&str; 3] = ["one", "two", "three"];
pub(crate) const JSON: &str = "application/json";
pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// The types of a sequence. A type comes in all its versions, so that objects are read in another than they were
/// written in.
fn types(seed: u64) -> Vec<&'static Type> {
    let mut random = Random::new(seed);
    let picked = (0..3).map(|_| random.pick(&TYPES));
    picked.flat_map(|ty| TYPES.iter().filter(|other| other.kind == ty.kind)).collect()
}

/// A sequence of operations.
pub(crate) fn sequence(seed: u64, length: usize) -> Sequence {
    let mut random = Random::new(seed ^ 0x5eed);
    let types = types(seed);
    let operations = (0..length)
        .map(|at| {
            let ty = *random.pick(&types);
            let name = *random.pick(&NAMES);
            if at < 6 { creation(&mut random, ty, name) } else { any(&mut random, ty, name) }
        })
        .collect();
    Sequence { watches: watches(seed, &types), operations }
}

/// One watch of each type.
fn watches(seed: u64, types: &[&'static Type]) -> Vec<Watch> {
    let mut random = Random::new(seed ^ 0x3a7c);
    let mut watches: Vec<Watch> = Vec::new();
    for ty in types {
        if !watches.iter().any(|watch| watch.kind == ty.kind) {
            watches.push(Watch::random(&mut random, ty));
        }
    }
    watches
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

pub(crate) fn operation(ty: &Type, method: &'static str, rest: String) -> Operation {
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

pub(crate) fn named(ty: &Type, method: &'static str, name: &str) -> Operation {
    operation(ty, method, format!("/{}", ty.name(name)))
}

fn creation(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let mut object = ty.object(name);
    if random.one_in(15) {
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("name");
        metadata.insert("generateName".to_owned(), json!(ty.name("made-")));
        metadata["labels"]["made"] = json!("x");
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
        mutations.extend(super::mutations::mutations(random, ty, 1));
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
