//! What a parent's status may hold, read from its `OpenAPI` schema. Where the schema says something
//! that is not understood here (a reference, alternatives), everything is allowed: the API server
//! judges then.

use serde_json::{Map, Value};

/// No more undeclared paths are told.
const MAX_PATHS: usize = 10;
/// What the API server itself declares in an object that embeds a Kubernetes object.
const EMBEDDED: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// What a parent's status may hold.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusSchema(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Unknown,
    None,
    Declared(Value),
}

impl StatusSchema {
    /// The schema is not known: everything is sent that somebody returns, and nothing added for
    /// which a field must be declared.
    pub fn unknown() -> Self {
        Self(Kind::Unknown)
    }

    /// The type has no status: nothing is ever sent.
    pub fn none() -> Self {
        Self(Kind::None)
    }

    /// Reads the schema of the field `status`, and whether the type has the status subresource.
    pub fn from_open_api(status: Option<&Value>, has_subresource: bool) -> Self {
        match status {
            Some(schema) if has_subresource => Self(Kind::Declared(schema.clone())),
            Some(_) | None => Self::none(),
        }
    }

    /// Whether the type has no status.
    pub fn is_none(&self) -> bool {
        self.0 == Kind::None
    }

    /// Whether a field is named in the schema; `*` stands for the items of a list.
    pub(super) fn declares(&self, path: &[&str]) -> bool {
        let mut schema = self.tree();
        for name in path {
            schema = schema.and_then(|schema| match *name {
                "*" => schema.get("items"),
                name => schema.get("properties")?.get(name),
            });
        }
        schema.is_some()
    }

    /// Whether a field may be sent, be it declared or not.
    pub(super) fn admits(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Unknown => true,
            Kind::None => false,
            Kind::Declared(schema) => {
                property(Some(schema), name).is_some() || allows_any(schema, name)
            }
        }
    }

    /// Whether a list may be sent under a name.
    pub(super) fn admits_list(&self, name: &str) -> bool {
        let declared = property(self.tree(), name).and_then(|schema| schema.get("type"));
        self.admits(name) && declared.is_none_or(|ty| ty == "array")
    }

    /// The schema of the status, if it is known.
    pub(super) fn tree(&self) -> Option<&Value> {
        match &self.0 {
            Kind::Declared(schema) => Some(schema),
            Kind::Unknown | Kind::None => None,
        }
    }

    /// Removes what is not declared from a status; returns the paths, with `*` for the items of lists
    /// and for names that are as free as they: their fields are told once.
    pub(super) fn prune(&self, status: &mut Value, path: &str) -> Vec<String> {
        let mut removed = Vec::new();
        match (&self.0, status) {
            (Kind::Unknown, _) => {}
            (Kind::None, status) => {
                if status.as_object().is_some_and(|fields| !fields.is_empty()) {
                    removed.push(path.to_owned());
                }
            }
            (Kind::Declared(schema), status) => prune(status, schema, path, &mut removed),
        }
        removed
    }

    /// The same for an item of a list in the status.
    pub(super) fn prune_item(&self, list: &str, item: &mut Value, path: &str) -> Vec<String> {
        let schema = property(self.tree(), list).and_then(|list| list.get("items"));
        let mut removed = Vec::new();
        if let Some(schema) = schema {
            prune(item, schema, path, &mut removed);
        }
        removed
    }

    /// Adds to an item of a list in the status what the server would add: without it the list would
    /// differ for ever.
    pub(super) fn default_item(&self, list: &str, item: &mut Map<String, Value>) {
        let schema = property(self.tree(), list).and_then(|list| list.get("items"));
        let declared = schema.and_then(|items| items.get("properties")).and_then(Value::as_object);
        for (name, _) in declared.into_iter().flatten() {
            if let (None, Some(default)) = (item.get(name), default(schema, name)) {
                item.insert(name.clone(), default.clone());
            }
        }
    }
}

/// The schema of a field, if there is one.
pub(super) fn property<'a>(schema: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    let properties = schema?.get("properties").and_then(|properties| properties.get(name));
    properties.or_else(|| schema?.get("additionalProperties").filter(|inner| inner.is_object()))
}

/// The default of a field, if there is one.
pub(super) fn default<'a>(schema: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    property(schema, name)?.get("default")
}

fn prune(value: &mut Value, schema: &Value, path: &str, removed: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, inner| {
                if let Some(inner_schema) = property(Some(schema), name) {
                    let is_named = schema["properties"].get(name).is_some();
                    let path = field_path(path, if is_named { name } else { "*" });
                    prune(inner, inner_schema, &path, removed);
                } else if !allows_any(schema, name) {
                    tell(removed, field_path(path, name));
                    return false;
                }
                true
            });
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    prune(item, schema, &format!("{path}[*]"), removed);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn tell(removed: &mut Vec<String>, path: String) {
    if removed.len() < MAX_PATHS && !removed.contains(&path) {
        removed.push(path);
    }
}

fn allows_any(schema: &Value, name: &str) -> bool {
    const OPEN: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "not"];
    let is_true = |field: &str| schema.get(field) == Some(&Value::Bool(true));
    let is_plain = schema.get("type").is_some() || schema.get("properties").is_some();
    is_true("x-kubernetes-preserve-unknown-fields")
        || is_true("additionalProperties")
        || (is_true("x-kubernetes-embedded-resource") && EMBEDDED.contains(&name))
        || OPEN.iter().any(|field| !is_plain && schema.get(*field).is_some())
        || schema.as_object().is_some_and(serde_json::Map::is_empty)
}

fn field_path(path: &str, name: &str) -> String {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'-';
    if name == "*" || (!name.is_empty() && name.bytes().all(is_plain)) {
        format!("{path}.{name}")
    } else {
        format!("{path}[{}]", Value::from(name))
    }
}
