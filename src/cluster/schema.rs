//! Parses the schema of a type's status and its secret fields from `OpenAPI` v3.
//!
//! Unlike the CRD, any authenticated user may read the document.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    object::{K8sType, SecretFields},
    reply::{Defaults, StatusSchema, TransitionRules, TypeSchema},
};

/// Schemas stay unparsed: a document with hundreds of types would take megabytes as a tree.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow, default)]
    paths: BTreeMap<String, &'a RawValue>,
    #[serde(borrow, default)]
    components: Components<'a>,
}

#[derive(Deserialize, Default)]
struct Components<'a> {
    #[serde(borrow, default)]
    schemas: BTreeMap<String, &'a RawValue>,
}

/// The part of a schema that names its type.
#[derive(Deserialize)]
struct Labelled {
    #[serde(default, rename = "x-kubernetes-group-version-kind")]
    kinds: Vec<GroupVersionKind>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupVersionKind {
    group: String,
    version: String,
    kind: String,
}

/// The schemas of all types of a document.
#[derive(Default)]
pub(super) struct Schemas {
    /// An unreadable schema is an error for its own type alone.
    by_kind: BTreeMap<Box<str>, serde_json::Result<KindSchema>>,
    /// The plurals of the types with a status subresource.
    with_status: BTreeSet<Box<str>>,
}

/// Which of them is that of a type depends on its plural, which its schema does not name.
struct KindSchema {
    with_subresource: Arc<TypeSchema>,
    without: Arc<TypeSchema>,
}

impl Schemas {
    /// Reads the document with the type `one_of_them`.
    pub(super) fn read(document: &[u8], one_of_them: &K8sType) -> serde_json::Result<Self> {
        let document: Document<'_> = serde_json::from_slice(document)?;
        let with_status = document.paths.keys().filter_map(|path| with_status(path));
        let referred = |name: &str| -> Option<Value> {
            let schema = document.components.schemas.get(name)?;
            // What cannot be read may be secret.
            Some(
                serde_json::from_str(schema.get())
                    .unwrap_or_else(|_| json!({"format": "password"})),
            )
        };
        let mut by_kind = BTreeMap::new();
        for schema in document.components.schemas.values() {
            if let Some(kind) = kind_of(schema.get(), one_of_them) {
                let schema = serde_json::from_str(schema.get());
                let read = schema.map(|schema| KindSchema::of(&schema, one_of_them, &referred));
                by_kind.entry(kind.into()).or_insert(read);
            }
        }
        Ok(Self { by_kind, with_status: with_status.collect() })
    }

    pub(super) fn of(&self, ty: &K8sType) -> Result<Option<Arc<TypeSchema>>, &serde_json::Error> {
        let Some(read) = self.by_kind.get(ty.kind()) else { return Ok(None) };
        let KindSchema { with_subresource, without } = read.as_ref()?;
        let has_subresource = self.with_status.contains(ty.plural());
        Ok(Some(if has_subresource { with_subresource } else { without }.clone()))
    }
}

impl KindSchema {
    fn of(schema: &Value, one_of_them: &K8sType, referred: &dyn Fn(&str) -> Option<Value>) -> Self {
        let with_subresource = TypeSchema {
            status: status(schema, one_of_them, true),
            secrets: secrets(schema, one_of_them, referred),
            transitions: TransitionRules::of_schema(schema),
            defaults: Arc::new(Defaults::of_schema(schema)),
        };
        let without = status(schema, one_of_them, false);
        let without = TypeSchema { status: without, ..with_subresource.clone() };
        Self { with_subresource: with_subresource.into(), without: without.into() }
    }
}

/// The plural of a type whose status has this path.
fn with_status(path: &str) -> Option<Box<str>> {
    path.strip_suffix("/{name}/status")?.rsplit('/').next().map(Into::into)
}

fn status(schema: &Value, one_of_them: &K8sType, has_subresource: bool) -> StatusSchema {
    match schema.pointer("/properties/status") {
        // Most refer to the schema of their status instead of containing it.
        _ if one_of_them.is_builtin() && has_subresource => StatusSchema::unknown(),
        Some(status) if status.get("properties").is_none() && is_reference(status) => {
            StatusSchema::unknown()
        }
        // It declares no status and preserves unknown fields.
        None if keeps_unknown(schema) => {
            StatusSchema::from_open_api(Some(&json!({})), has_subresource)
        }
        status => StatusSchema::from_open_api(status, has_subresource),
    }
}

/// The marked fields; unknown for a schema without fields, which the server publishes if it cannot read the schema.
fn secrets(
    schema: &Value,
    one_of_them: &K8sType,
    referred: &dyn Fn(&str) -> Option<Value>,
) -> Option<SecretFields> {
    match schema.get("properties").and_then(Value::as_object) {
        // Kubernetes marks no fields of its own types, and their schemas refer to many others.
        _ if one_of_them.is_builtin() => Some(SecretFields::of_schema_with(schema, &|_| None)),
        Some(fields) if !fields.is_empty() => Some(SecretFields::of_schema_with(schema, referred)),
        _ => None,
    }
}

fn is_reference(status: &Value) -> bool {
    status.get("$ref").is_some() || status.get("allOf").is_some()
}

fn keeps_unknown(schema: &Value) -> bool {
    schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
}

/// The kind of a schema of the group and version of `other`.
fn kind_of(schema: &str, other: &K8sType) -> Option<String> {
    let Labelled { kinds } = serde_json::from_str(schema).ok()?;
    let is_of = |it: &GroupVersionKind| it.group == other.group() && it.version == other.version();
    kinds.into_iter().find(is_of).map(|it| it.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_by_its_group_version_and_kind() {
        let kinds = json!([{"group": "example.dev", "version": "v1", "kind": "Echo"}]);
        let schema = json!({"x-kubernetes-group-version-kind": kinds}).to_string();
        let kind = |api_version: &str, schema: &str| {
            kind_of(schema, &K8sType::namespaced(api_version, "Song", "songs"))
        };
        assert_eq!(kind("example.dev/v1", &schema), Some("Echo".to_owned()));
        assert_eq!(kind("example.dev/v2", &schema), None);
        assert_eq!(kind("example.dev/v1", "{}"), None);
    }
}
