//! Which status fields a parent's type declares, read from its `OpenAPI` schema. Where the schema has
//! constructs that are not supported here (references, alternatives), everything is allowed: the API server
//! decides.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{defaults::Defaults, transition_rules::TransitionRules, value_schema::ValueSchema};
use crate::object::SecretFields;

/// The most undeclared paths reported.
const MAX_PATHS: usize = 10;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypeSchema {
    pub(crate) status: StatusSchema,
    /// `None` where the schema does not say which fields are secret.
    pub(crate) secrets: Option<SecretFields>,
    pub(crate) transitions: TransitionRules,
    pub(crate) defaults: Arc<Defaults>,
}

impl TypeSchema {
    /// One without transition rules.
    #[cfg(test)]
    pub(crate) fn of(status: StatusSchema, secrets: SecretFields) -> Self {
        Self { status, ..Self::unpublished(Some(secrets)) }
    }

    /// That of a type whose schema is not published. What is known of its secrets stays known.
    pub(crate) fn unpublished(secrets: Option<SecretFields>) -> Self {
        let (transitions, defaults) = <_>::default();
        Self { status: StatusSchema::unknown(), secrets, transitions, defaults }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatusSchema(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Unknown,
    None,
    Declared(ValueSchema),
}

impl StatusSchema {
    /// An unknown schema: every returned field is sent, and no field is added that must be declared.
    pub(crate) fn unknown() -> Self {
        Self(Kind::Unknown)
    }

    /// A type without status: nothing is ever sent.
    pub(crate) fn none() -> Self {
        Self(Kind::None)
    }

    /// Reads the schema of the field `status`; `has_subresource` tells whether the type has the status
    /// subresource.
    pub(crate) fn from_open_api(status: Option<&Value>, has_subresource: bool) -> Self {
        match status {
            Some(schema) if has_subresource => Self(Kind::Declared(ValueSchema::read(schema))),
            Some(_) | None => Self::none(),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0 == Kind::None
    }

    /// Whether a field is named in the schema; `*` stands for the items of a list.
    pub(crate) fn declares(&self, path: &[&str]) -> bool {
        let Some(schema) = self.declared() else { return false };
        let named = path.iter().try_fold(schema, |schema, name| match *name {
            "*" => schema.items(),
            name => schema.property(name),
        });
        named.is_some()
    }

    /// Whether a field may be sent, declared or not.
    pub(crate) fn admits(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Unknown => true,
            Kind::None => false,
            Kind::Declared(schema) => schema.admits(name),
        }
    }

    /// Whether a list may be sent under a name.
    pub(crate) fn admits_list(&self, name: &str) -> bool {
        self.admits(name) && self.field(name).is_none_or(ValueSchema::may_be_list)
    }

    /// The schema of the status, if it is known.
    pub(crate) fn declared(&self) -> Option<&ValueSchema> {
        match &self.0 {
            Kind::Declared(schema) => Some(schema),
            Kind::Unknown | Kind::None => None,
        }
    }

    /// Removes undeclared fields from a status; returns their paths, with `*` for list items and for
    /// arbitrary names, so that each is reported once.
    pub(crate) fn prune(&self, status: &mut Value, path: &str) -> Vec<String> {
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
    pub(crate) fn prune_item(&self, list: &str, item: &mut Value, path: &str) -> Vec<String> {
        let mut removed = Vec::new();
        if let Some(schema) = self.items_of(list) {
            prune(item, schema, path, &mut removed);
        }
        removed
    }

    /// Adds the defaults of the server to an item of a list in the status: otherwise the list would always
    /// differ.
    pub(crate) fn default_item(&self, list: &str, item: &mut Map<String, Value>) {
        if let Some(schema) = self.items_of(list) {
            schema.fill_in(item);
        }
    }

    fn items_of(&self, list: &str) -> Option<&ValueSchema> {
        self.field(list)?.items()
    }

    fn field(&self, name: &str) -> Option<&ValueSchema> {
        self.declared()?.field(name)
    }
}

fn prune(value: &mut Value, schema: &ValueSchema, path: &str, removed: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.retain(|name, inner| {
            if let Some(inner_schema) = schema.field(name) {
                let is_named = schema.property(name).is_some();
                let path = field_path(path, if is_named { name } else { "*" });
                prune(inner, inner_schema, &path, removed);
            } else if !schema.admits(name) {
                add_once(removed, field_path(path, name));
                return false;
            }
            true
        }),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for item in items {
                prune(item, schema, &format!("{path}[*]"), removed);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn add_once(removed: &mut Vec<String>, path: String) {
    if removed.len() < MAX_PATHS && !removed.contains(&path) {
        removed.push(path);
    }
}

fn field_path(path: &str, name: &str) -> String {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'-';
    if name == "*" || (!name.is_empty() && name.bytes().all(is_plain)) {
        format!("{path}.{name}")
    } else {
        format!("{path}[{}]", Value::from(name))
    }
}
