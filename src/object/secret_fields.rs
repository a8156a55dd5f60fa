//! The fields of a type that its schema marks as secret: strings with `format: password`. Stores
//! their paths, never their values.

use std::fmt;

use serde_json::Value;

use super::SecretValues;

/// The paths of an object's secrets, according to the schema of its type. The default marks
/// nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretFields(Vec<Vec<Step>>);

/// One step from an object to a value in it.
#[derive(Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    /// Every item of a list, or every value of a map.
    Each,
}

/// The schema of a CRD has a limited depth; this limit is for other JSON.
const MAX_DEPTH: usize = 64;

impl SecretFields {
    /// The fields that an `OpenAPI` v3 schema marks. References are not followed: CRDs have none,
    /// except to the metadata.
    pub(crate) fn of_schema(schema: &Value) -> Self {
        let mut found = Self::default();
        found.collect(schema, &mut Vec::new());
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the secrets of an object to `values`. Consumes the object.
    pub(crate) fn collect_values(&self, mut object: Value, values: &mut SecretValues) {
        for path in &self.0 {
            each(&mut object, path, &mut |value| values.add(value));
        }
    }

    /// Replaces every secret by a text.
    pub(crate) fn hide(&self, object: &mut Value, instead: &str) {
        for path in &self.0 {
            each(object, path, &mut |value| {
                if !value.is_null() {
                    *value = instead.into();
                }
            });
        }
    }

    fn collect(&mut self, schema: &Value, path: &mut Vec<Step>) {
        if path.len() > MAX_DEPTH {
            return;
        }
        if schema["format"] == "password" && !self.0.contains(path) {
            self.0.push(path.clone());
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            self.collect_at(Step::Field(name.clone()), property, path);
        }
        for items in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(items) {
                self.collect_at(Step::Each, inner, path);
            }
        }
        for alternatives in ["allOf", "anyOf", "oneOf"] {
            for schema in schema[alternatives].as_array().into_iter().flatten() {
                self.collect(schema, path);
            }
        }
    }

    fn collect_at(&mut self, step: Step, schema: &Value, path: &mut Vec<Step>) {
        path.push(step);
        self.collect(schema, path);
        path.pop();
    }
}

fn each(value: &mut Value, path: &[Step], visit: &mut impl FnMut(&mut Value)) {
    match (path.split_first(), value) {
        (None, value) => visit(value),
        (Some((Step::Field(name), rest)), Value::Object(fields)) => {
            fields.get_mut(name).into_iter().for_each(|value| each(value, rest, visit));
        }
        (Some((Step::Each, rest)), Value::Array(items)) => {
            for item in items {
                each(item, rest, visit);
            }
        }
        (Some((Step::Each, rest)), Value::Object(fields)) => {
            fields.values_mut().for_each(|value| each(value, rest, visit));
        }
        // The object does not match its schema.
        (Some(_), _) => {}
    }
}

impl fmt::Debug for SecretFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretFields({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields() -> SecretFields {
        let secret = json!({"type": "string", "format": "password"});
        SecretFields::of_schema(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "password": secret,
                "name": {"type": "string", "format": "uri"},
                "users": {"type": "array", "items": {"properties": {"key": secret}}},
                "tokens": {"type": "object", "additionalProperties": secret},
                "either": {"type": "string", "anyOf": [{"minLength": 1}, {"format": "password"}]},
            }},
        }}))
    }

    fn object() -> Value {
        json!({"spec": {
            "password": "first", "name": "shown", "users": [{"key": "second", "id": 1}, {}],
            "tokens": {"x": "third", "y": "fourth"}, "either": "fifth",
        }})
    }

    #[test]
    fn marked_values_are_found_in_fields_lists_and_maps() {
        let mut values = SecretValues::default();
        fields().collect_values(object(), &mut values);
        for secret in ["first", "second", "third", "fourth", "fifth"] {
            assert_eq!(values.hidden(secret), "(redacted)");
        }
        assert_eq!(values.hidden("shown"), "shown");
        assert!(SecretFields::of_schema(&json!({"type": "object"})).is_empty());
    }

    #[test]
    fn only_marked_values_are_hidden() {
        let mut shown = object();
        fields().hide(&mut shown, "-");
        let expected = json!({"spec": {
            "password": "-", "name": "shown", "users": [{"key": "-", "id": 1}, {}],
            "tokens": {"x": "-", "y": "-"}, "either": "-",
        }});
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_object_that_does_not_match_its_schema_is_accepted() {
        for mut odd in [json!(null), json!({"spec": []}), json!({"spec": {"users": 1}})] {
            let (before, mut values) = (odd.clone(), SecretValues::default());
            fields().collect_values(odd.clone(), &mut values);
            fields().hide(&mut odd, "-");
            assert!(values.is_empty() && odd == before, "{odd}");
        }
    }
}
