//! Objects of generated definitions: valid ones, then wrong in one place.

use serde_json::{Map, Value, json};

use crate::differential::random::Random;

/// Where an object is sent for a dry run.
pub(crate) fn path(definition: &Value) -> String {
    let spec = &definition["spec"];
    let plural = spec["names"]["plural"].as_str().unwrap();
    let namespace = if spec["scope"] == "Namespaced" { "namespaces/default/" } else { "" };
    format!("/apis/example.com/v1/{namespace}{plural}?dryRun=All")
}

/// An object with one value that may not be there.
pub(crate) fn wrong(random: &mut Random, definition: &Value) -> Value {
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let spec = valid(random, &schema["properties"]["spec"]);
    let mut places = Vec::new();
    collect(&spec, "/spec".to_owned(), &mut places);
    let place = random.pick(&places).clone();
    let mut object = json!({
        "apiVersion": "example.com/v1", "kind": definition["spec"]["names"]["kind"],
        "metadata": {"name": "x"}, "spec": spec,
    });
    change(random, object.pointer_mut(&place).unwrap());
    object
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                collect(inner, format!("{place}/{name}"), places);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                collect(inner, format!("{place}/{at}"), places);
            }
        }
        _ => {}
    }
    places.push(place);
}

fn change(random: &mut Random, value: &mut Value) {
    let others = [
        json!(null),
        json!(true),
        json!(-5),
        json!(0),
        json!(3),
        json!(1.5),
        json!(1e20),
        json!(3_000_000_000_u32),
        json!(""),
        json!("a"),
        json!("bad"),
        json!("UPPER"),
        json!("much too long"),
        json!([]),
        json!([1]),
        json!(["a", "a"]),
        json!({}),
        json!({"odd": 1}),
    ];
    match value {
        Value::Array(items) if !items.is_empty() && random.one_in(2) => {
            let repeated = items[0].clone();
            items.extend(vec![repeated; 5]);
        }
        Value::Object(fields) if !fields.is_empty() && random.one_in(2) => {
            let name = random.pick(&fields.keys().cloned().collect::<Vec<_>>()).clone();
            if random.one_in(2) {
                fields.remove(&name);
            } else {
                let repeated = fields[&name].clone();
                fields.extend((0..6).map(|at| (format!("more{at}"), repeated.clone())));
            }
        }
        value => *value = random.pick(&others).clone(),
    }
}

fn valid(random: &mut Random, schema: &Value) -> Value {
    if let Some(value) = schema["enum"].as_array() {
        return value[0].clone();
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        return json!({"apiVersion": "v1", "kind": "X", "metadata": {"labels": {"a": "b"}}});
    }
    match schema["type"].as_str() {
        Some("object") if schema["additionalProperties"].is_object() => {
            json!({"one": valid(random, &schema["additionalProperties"])})
        }
        Some("object") => fields(random, schema),
        Some("array") if schema["x-kubernetes-list-type"] == "set" => json!(["a", "b"]),
        Some("array") => json!([valid(random, &schema["items"])]),
        Some("string") => text(schema).into(),
        Some("integer") => json!(4),
        Some("number") => json!(2.5),
        Some("boolean") => json!(true),
        _ if schema["x-kubernetes-int-or-string"] == true => json!("80"),
        _ => json!({"any": [1, {"thing": null}]}),
    }
}

fn fields(random: &mut Random, schema: &Value) -> Value {
    let properties = schema["properties"].as_object().unwrap();
    let needs = |name: &str| {
        let is_listed =
            |list: &Value| list.as_array().is_some_and(|it| it.iter().any(|it| it == name));
        let of_all = schema["allOf"].as_array().into_iter().flatten();
        is_listed(&schema["required"])
            || of_all.into_iter().any(|it| is_listed(&it["required"]))
            || (name == "alpha" && (schema["anyOf"].is_array() || schema["oneOf"].is_array()))
    };
    let forbids =
        |name: &str| name == "beta" && (schema["not"].is_object() || schema["oneOf"].is_array());
    let mut fields = Map::new();
    for (name, inner) in properties {
        let value = valid(random, inner);
        if needs(name) || (!forbids(name) && !random.one_in(4)) {
            fields.insert(name.clone(), value);
        }
    }
    Value::Object(fields)
}

fn text(schema: &Value) -> &'static str {
    match schema["format"].as_str() {
        Some("date-time") => "2024-01-01T00:00:00Z",
        Some("ipv4") => "10.0.0.1",
        Some("uri") => "/a",
        Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
        _ => "abc",
    }
}
