//! Random requests without an object in their body: reads, deletions, garbage.

use serde_json::json;

use super::{
    generate::{APPLY, JSON, JSON_PATCH, MERGE, NAMES, STRATEGIC, named, operation},
    operation::{Body, Operation},
    random::Random,
    types::Type,
};

pub(crate) fn reading(random: &mut Random, ty: &Type, name: &str) -> Operation {
    let accept = [
        JSON,
        JSON,
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
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
        ("limit", "1"),
        ("limit", "2"),
        ("continue", "$continue"),
        ("continue", "$continue"),
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
        if matches!(name, "limit" | "continue") && !run.starts_with("bad") {
            // Where a page ends depends on random names.
            operation.query[0].1.push_str(",!made");
        }
        operation.query.push((name, value.to_owned()));
    }
    operation
}

pub(crate) fn deletion(random: &mut Random, ty: &Type, name: &str) -> Operation {
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

pub(crate) fn collection_deletion(random: &mut Random, ty: &Type) -> Operation {
    let mut operation = operation(ty, "DELETE", String::new());
    let selector = format!("run=$ns,name in (a,{})", random.pick(&NAMES));
    operation.query.push(("labelSelector", selector));
    operation
}

pub(crate) fn garbage(random: &mut Random, ty: &Type, name: &str) -> Operation {
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
