//! The fields of a type that its schema marks as secret: strings with `format: password`. Stores
//! their paths, never their values.

use std::fmt;

use serde_json::Value;

use super::{Object, SecretValues};

/// The paths of an object's secrets, according to the schema of its type. The default marks
/// nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretFields(Vec<Vec<Step>>);

/// The values of the marked fields of an object. `Debug` shows how many.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct MarkedValues(Vec<Value>);

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
    /// The fields that an `OpenAPI` v3 schema marks. CRDs have no references to other schemas, except to the metadata.
    #[cfg(test)]
    pub(crate) fn of_schema(schema: &Value) -> Self {
        Self::of_schema_with(schema, &|_| None)
    }

    /// The same with the schemas to which it refers, by name.
    pub(crate) fn of_schema_with(schema: &Value, referred: &dyn Fn(&str) -> Option<Value>) -> Self {
        let mut reading =
            Reading { found: Self::default(), path: Vec::new(), within: Vec::new(), referred };
        reading.read(schema);
        reading.found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the secrets of an object to `values`: those of a Secret, of Secrets within it, and its marked fields.
    pub(crate) fn collect_of(&self, object: &Object, values: &mut SecretValues) {
        // Most objects have none, and a search is faster than a parser.
        let has_some = object.ty().is("v1", "Secret") || object.json().contains("Secret");
        if has_some || !self.is_empty() {
            self.collect_values(object.to_value(), values);
        }
    }

    /// The same of a tree, which it consumes.
    pub(crate) fn collect_values(&self, mut object: Value, values: &mut SecretValues) {
        values.add_secrets_of(&object);
        for path in &self.0 {
            each(&mut object, path, &mut |value| values.add(value));
        }
    }

    /// The values of the marked fields.
    pub(crate) fn values_of(&self, object: &Object) -> MarkedValues {
        let (mut tree, mut marked) = (object.to_value(), MarkedValues::default());
        for path in &self.0 {
            each(&mut tree, path, &mut |value| marked.0.push(value.clone()));
        }
        marked
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
}

impl MarkedValues {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds them to `values`.
    pub(crate) fn collect(&self, values: &mut SecretValues) {
        self.0.iter().for_each(|value| values.add(value));
    }
}

/// The reading of a schema.
struct Reading<'a> {
    found: SecretFields,
    /// The path to the schema that is read.
    path: Vec<Step>,
    /// The references that lead to it: a schema may refer to itself.
    within: Vec<String>,
    referred: &'a dyn Fn(&str) -> Option<Value>,
}

impl Reading<'_> {
    fn read(&mut self, schema: &Value) {
        let is_marked = schema["format"] == "password";
        // What is too deep to read may be marked.
        let is_deep = self.path.len() > MAX_DEPTH;
        if (is_marked || is_deep) && !self.found.0.contains(&self.path) {
            self.found.0.push(self.path.clone());
        }
        if is_deep {
            return;
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            self.read_at(Step::Field(name.clone()), property);
        }
        for items in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(items) {
                self.read_at(Step::Each, inner);
            }
        }
        for alternatives in ["allOf", "anyOf", "oneOf"] {
            schema[alternatives].as_array().into_iter().flatten().for_each(|it| self.read(it));
        }
        if let Some(reference) = schema["$ref"].as_str() {
            self.read_referred(reference);
        }
    }

    fn read_at(&mut self, step: Step, schema: &Value) {
        self.path.push(step);
        self.read(schema);
        self.path.pop();
    }

    fn read_referred(&mut self, reference: &str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        if self.within.iter().any(|outer| outer == name) {
            return;
        }
        if let Some(schema) = (self.referred)(name) {
            self.within.push(name.to_owned());
            self.read(&schema);
            self.within.pop();
        }
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

impl fmt::Debug for MarkedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MarkedValues({})", self.0.len())
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
    fn marks_in_other_schemas_are_found_also_in_one_that_refers_to_itself() {
        let node = json!({"properties": {
            "key": {"format": "password"}, "next": {"$ref": "#/components/schemas/Node"},
        }});
        let schema = json!({"properties": {
            "spec": {"allOf": [{"$ref": "#/components/schemas/Node"}], "default": {}},
            "lost": {"$ref": "#/components/schemas/Lost"},
        }});
        let referred = |name: &str| (name == "Node").then(|| node.clone());
        let marked = SecretFields::of_schema_with(&schema, &referred);
        let mut shown = json!({"spec": {"key": "first", "next": {"key": "beyond"}}});
        marked.hide(&mut shown, "-");
        assert_eq!(shown["spec"]["key"], "-");
    }

    #[test]
    fn what_is_too_deep_in_a_schema_counts_as_marked() {
        let nested = |inner: Value| (0..MAX_DEPTH + 9).fold(inner, |inner, _| json!({"x": inner}));
        let schema = (0..MAX_DEPTH + 9)
            .fold(json!({"type": "string"}), |inner, _| json!({"properties": {"x": inner}}));
        let mut shown = nested(json!("deep"));
        SecretFields::of_schema(&schema).hide(&mut shown, "-");
        assert!(!shown.to_string().contains("deep"), "{shown}");
    }

    #[test]
    fn secrets_within_an_object_are_found_in_fields_lists_and_copies() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret",
            "data": {"a": "czNjcmV0LW9uZQ=="}, "stringData": {"b": "s3cret-two"}});
        let copy = json!({"apiVersion": "v1", "kind": "List", "items": [secret]}).to_string();
        for object in [
            json!({"spec": {"template": secret}}),
            json!({"spec": {"resources": [secret]}}),
            json!({"metadata": {"annotations": {"copy": copy}}}),
            secret,
        ] {
            let mut values = SecretValues::default();
            SecretFields::default().collect_values(object, &mut values);
            assert_eq!(values.hidden("s3cret-one, s3cret-two"), "(redacted), (redacted)");
        }
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
