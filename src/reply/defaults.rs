//! The defaults that the server sets inside values that an apply replaces as a whole: in the items of lists without keys,
//! and in atomic maps. Everywhere else the managed fields show what is ours.
//!
//! Source: "Defaulting" and "Merge strategy" of the pages on custom resources and server-side apply in the documentation
//! of Kubernetes.

use serde_json::{Map, Value};

/// The defaults of a custom type; none for the types of Kubernetes, which publishes few of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Defaults(Box<[(FieldPath, Value)]>);

/// The names of fields from the root; `*` stands for the keys of a map, and nothing for the items of a list.
type FieldPath = Box<[Box<str>]>;

impl Defaults {
    /// Reads a schema of `OpenAPI` v3, as the API server publishes it.
    pub(crate) fn of_schema(schema: &Value) -> Self {
        let mut reader = Reader::default();
        for (name, property) in fields(schema, "properties") {
            // Handlers return no status.
            if !["metadata", "status"].contains(&&**name) {
                reader.read(name, property, false);
            }
        }
        Self(reader.found.into())
    }

    /// The paths, each with its default.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[Box<str>], &Value)> {
        self.0.iter().map(|(path, default)| (&**path, default))
    }
}

#[derive(Default)]
struct Reader {
    path: Vec<Box<str>>,
    found: Vec<(FieldPath, Value)>,
}

impl Reader {
    /// `is_inside`: whether a value around it is applied as a whole.
    fn read(&mut self, name: &str, schema: &Value, is_inside: bool) {
        self.path.push(name.into());
        if let Some(default) = schema.get("default").filter(|_| is_inside) {
            let mut default = default.clone();
            complete(&mut default, schema);
            self.found.push((self.path.as_slice().into(), default));
        }
        self.read_inner(schema, is_inside);
        self.path.pop();
    }

    fn read_inner(&mut self, schema: &Value, is_inside: bool) {
        let is_atomic = is_inside || schema["x-kubernetes-map-type"] == "atomic";
        for (name, property) in fields(schema, "properties") {
            self.read(name, property, is_atomic);
        }
        if schema["additionalProperties"].is_object() {
            self.read("*", &schema["additionalProperties"], is_atomic);
        }
        if schema["items"].is_object() {
            self.read_inner(
                &schema["items"],
                is_inside || schema["x-kubernetes-list-type"] != "map",
            );
        }
    }
}

/// Adds the defaults within a value.
fn complete(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(present) => complete_fields(present, schema),
        Value::Array(items) => items.iter_mut().for_each(|item| complete(item, &schema["items"])),
        _ => {}
    }
}

fn complete_fields(present: &mut Map<String, Value>, schema: &Value) {
    for (name, property) in fields(schema, "properties") {
        if let Some(default) = property.get("default").filter(|_| !present.contains_key(name)) {
            present.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in present {
        let declared = schema["properties"].get(name);
        complete(value, declared.unwrap_or(&schema["additionalProperties"]));
    }
}

fn fields<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema[name].as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(spec: &Value) -> Vec<(String, Value)> {
        let schema = json!({"properties": {"spec": spec, "status": spec, "metadata": spec}});
        let defaults = Defaults::of_schema(&schema);
        defaults.iter().map(|(path, value)| (path.join("."), value.clone())).collect()
    }

    #[test]
    fn only_defaults_inside_of_what_is_applied_as_a_whole_are_read() {
        let item = json!({"type": "object", "properties": {"weight": {"default": 1}, "name": {}}});
        let list = |ty: &str| json!({"items": item, "x-kubernetes-list-type": ty});
        let map =
            |ty: &str| json!({"properties": {"a": {"default": 1}}, "x-kubernetes-map-type": ty});
        let spec = json!({"properties": {
            "replicas": {"default": 1},
            "atomic": list("atomic"),
            "by_default": {"items": item},
            "keyed": list("map"),
            "nested": {"items": {"properties": {"keyed": list("map")}}},
            "free": {"items": {"additionalProperties": item}},
            "lists": {"items": {"items": item}},
            "map": map("atomic"), "granular": map("granular"),
        }});
        let mut found: Vec<_> = read(&spec).into_iter().map(|(path, _)| path).collect();
        found.sort();
        assert_eq!(
            found,
            [
                "spec.atomic.weight",
                "spec.by_default.weight",
                "spec.free.*.weight",
                "spec.lists.weight",
                "spec.map.a",
                "spec.nested.keyed.weight",
            ]
        );
    }

    #[test]
    fn a_default_is_as_the_server_completes_it() {
        let path = json!({"properties": {"type": {"default": "PathPrefix"}, "value": {}}});
        let matches = json!({
            "default": [{"path": {"value": "/"}}], "items": {"properties": {"path": path}},
        });
        let found = read(
            &json!({"properties": {"rules": {"items": {"properties": {"matches": matches}}}}}),
        );
        let completed = json!([{"path": {"type": "PathPrefix", "value": "/"}}]);
        assert!(found.contains(&("spec.rules.matches".to_owned(), completed)), "{found:?}");
        assert!(found.contains(&("spec.rules.matches.path.type".to_owned(), json!("PathPrefix"))));
    }
}
