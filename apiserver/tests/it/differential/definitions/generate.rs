//! Valid definitions, by their seed: each has a field of every kind.

use serde_json::{Map, Value, json};

use crate::differential::random::Random;

/// The kinds of schemas. Each is a field of the specification, and may be inside of others.
const KINDS: [&str; 14] = [
    "object",
    "map",
    "array",
    "keyed",
    "set",
    "string",
    "text",
    "integer",
    "number",
    "boolean",
    "intOrString",
    "any",
    "embedded",
    "branches",
];
const NAMES: [&str; 6] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];

/// The definition of a seed.
pub(crate) fn definition(seed: u64) -> Value {
    let mut random = Random::new(seed);
    let random = &mut random;
    let plural = format!("things{seed}");
    let count = *random.pick(&[1, 1, 1, 2, 3]);
    let shared = random.one_in(3);
    let first = root(random);
    // They stand beside the schema: both in the versions, or both above them.
    let selectable = (count == 1 || shared) && random.one_in(2);
    let versions: Vec<Value> = (0..count)
        .map(|at| {
            let schema = if shared || at == 0 { first.clone() } else { root(random) };
            version(random, at, schema, selectable)
        })
        .collect();
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com",
            "scope": *random.pick(&["Namespaced", "Cluster"]),
            "names": {"plural": plural, "kind": format!("Thing{seed}")},
            "versions": versions,
        },
    });
    if random.one_in(2) {
        let names = definition["spec"]["names"].as_object_mut().unwrap();
        names.insert("shortNames".to_owned(), json!([format!("th{seed}")]));
        names.insert("categories".to_owned(), json!(["all", "odd"]));
    }
    definition
}

fn version(random: &mut Random, at: usize, schema: Value, selectable: bool) -> Value {
    let name = ["v1", "v1beta1", "v2alpha1"][at];
    let mut version = json!({
        "name": name, "served": true, "storage": at == 0,
        "schema": {"openAPIV3Schema": schema},
    });
    if random.one_in(2) {
        version["subresources"] = json!({"status": {}, "scale": {
            "specReplicasPath": ".spec.integer", "statusReplicasPath": ".status.replicas",
        }});
    }
    if random.one_in(2) {
        version["additionalPrinterColumns"] = json!([
            {"name": "Text", "type": "string", "jsonPath": ".spec.text"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ]);
    }
    if selectable {
        version["selectableFields"] = json!([{"jsonPath": ".spec.text"}]);
    }
    version
}

/// A schema of whole objects.
fn root(random: &mut Random) -> Value {
    let fields: Map<String, Value> =
        KINDS.iter().map(|kind| ((*kind).to_owned(), schema(random, kind, 2))).collect();
    json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": fields},
            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        },
    })
}

fn any(random: &mut Random, depth: usize) -> Value {
    let kind = *random.pick(&KINDS);
    schema(random, kind, depth)
}

/// A schema of a kind, with schemas inside as deep as this.
pub(crate) fn schema(random: &mut Random, kind: &str, depth: usize) -> Value {
    match kind {
        "object" => object(random, depth),
        "branches" => branches(random, depth),
        "map" => {
            json!({"type": "object", "maxProperties": 5, "additionalProperties": inner(random, depth)})
        }
        "array" => array(random, depth),
        "keyed" => keyed(random, depth),
        "set" => json!({
            "type": "array", "x-kubernetes-list-type": "set", "maxItems": 4,
            "items": {"type": "string", "maxLength": 8},
        }),
        "string" | "text" => string(random),
        "integer" => integer(random),
        "number" => number(random),
        "boolean" => json!({"type": "boolean"}),
        "intOrString" => int_or_string(random),
        "embedded" => json!({
            "type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
        }),
        _ => json!({"x-kubernetes-preserve-unknown-fields": true}),
    }
}

fn inner(random: &mut Random, depth: usize) -> Value {
    if depth == 0 { schema(random, "string", 0) } else { any(random, depth - 1) }
}

fn fields(random: &mut Random, depth: usize) -> Map<String, Value> {
    let count = 2 + random.below(3);
    // Rules name the first field, which only has to have a type.
    let first = [("alpha".to_owned(), string(random))];
    let others = NAMES[1..count].iter().map(|name| ((*name).to_owned(), inner(random, depth)));
    first.into_iter().chain(others).collect()
}

fn object(random: &mut Random, depth: usize) -> Value {
    let mut schema = json!({"type": "object", "properties": fields(random, depth)});
    if random.one_in(2) {
        schema["required"] = json!(["alpha"]);
    }
    if random.one_in(3) {
        schema["minProperties"] = json!(1);
    }
    if random.one_in(4) {
        schema["nullable"] = json!(true);
    }
    if random.one_in(3) {
        schema["x-kubernetes-validations"] =
            json!([{"rule": "!has(self.alpha) || self.alpha != 'bad'", "message": "bad is bad"}]);
    }
    schema
}

fn branches(random: &mut Random, depth: usize) -> Value {
    let mut schema = json!({"type": "object", "properties": fields(random, depth)});
    let of = |names: [&str; 2]| json!(names.map(|name| json!({"required": [name]})));
    match random.below(4) {
        0 => schema["anyOf"] = of(["alpha", "beta"]),
        1 => schema["oneOf"] = of(["alpha", "beta"]),
        2 => schema["allOf"] = of(["alpha", "beta"]),
        _ => schema["not"] = json!({"required": ["beta"]}),
    }
    schema
}

fn array(random: &mut Random, depth: usize) -> Value {
    let mut schema = json!({"type": "array", "items": inner(random, depth)});
    if random.one_in(2) {
        schema["maxItems"] = json!(3);
    }
    if random.one_in(2) {
        schema["minItems"] = json!(1);
    }
    schema
}

fn keyed(random: &mut Random, depth: usize) -> Value {
    json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "value": inner(random, depth),
        }},
    })
}

fn string(random: &mut Random) -> Value {
    let mut schema = json!({"type": "string"});
    match random.below(6) {
        0 => schema["enum"] = json!(["red", "green"]),
        1 => schema["pattern"] = json!("^[a-z]+$"),
        2 => {
            schema["format"] =
                json!(*random.pick(&["date-time", "ipv4", "uri", "uuid", "made-up"]));
        }
        3 => schema["default"] = json!("abc"),
        4 => schema["x-kubernetes-validations"] = json!([{"rule": "self != 'bad'"}]),
        _ => {}
    }
    if random.one_in(2) {
        schema["maxLength"] = json!(8);
        schema["minLength"] = json!(2);
    }
    schema
}

fn integer(random: &mut Random) -> Value {
    let mut schema = json!({"type": "integer"});
    if random.one_in(2) {
        schema["format"] = json!(*random.pick(&["int32", "int64"]));
    }
    if random.one_in(2) {
        (schema["minimum"], schema["maximum"]) = (json!(1), json!(10));
    }
    match random.below(5) {
        0 => schema["multipleOf"] = json!(2),
        1 => schema["enum"] = json!([2, 4]),
        2 => schema["default"] = json!(4),
        3 => schema["x-kubernetes-validations"] = json!([{"rule": "self < 100"}]),
        _ => {}
    }
    schema
}

fn number(random: &mut Random) -> Value {
    let mut schema = json!({"type": "number"});
    match random.below(4) {
        0 => schema["minimum"] = json!(0.5),
        1 => (schema["maximum"], schema["exclusiveMaximum"]) = (json!(9.5), json!(true)),
        2 => schema["multipleOf"] = json!(0.5),
        _ => schema["format"] = json!("float"),
    }
    schema
}

fn int_or_string(random: &mut Random) -> Value {
    let mut schema = json!({"x-kubernetes-int-or-string": true});
    let types = json!([{"type": "integer"}, {"type": "string"}]);
    match random.below(4) {
        0 => schema["anyOf"] = types,
        1 => schema["allOf"] = json!([{"anyOf": types}, {"pattern": "^[0-9a-z]+$"}]),
        2 => schema["pattern"] = json!("^[0-9a-z]+$"),
        _ => {}
    }
    schema
}
