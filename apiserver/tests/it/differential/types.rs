//! The types that objects are made of: `types.json` says what each needs at least, and what else to try.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One type: what an object needs at least, and what else to try.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Type {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    plural: String,
    pub(crate) namespaced: bool,
    #[serde(default)]
    pub(crate) scale: bool,
    base: Map<String, Value>,
    #[serde(default)]
    pub(crate) status: Vec<Value>,
    /// Values for some fields, right and wrong ones.
    pub(crate) fields: Map<String, Value>,
}

pub(crate) static TYPES: LazyLock<Vec<Type>> =
    LazyLock::new(|| serde_json::from_str(include_str!("types.json")).unwrap());

impl Type {
    pub(crate) fn collection(&self) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        let within = if self.namespaced { "namespaces/$ns/" } else { "" };
        format!("/{root}/{}/{within}{}", self.api_version, self.plural)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        if self.namespaced { name.to_owned() } else { format!("$ns-{name}") }
    }

    /// A valid object.
    pub(crate) fn object(&self, name: &str) -> Value {
        let mut object = self.base.clone();
        object.insert("apiVersion".to_owned(), json!(self.api_version));
        object.insert("kind".to_owned(), json!(self.kind));
        let metadata = json!({"name": self.name(name), "labels": {"name": name, "run": "$ns"}});
        object.insert("metadata".to_owned(), metadata);
        Value::Object(object)
    }
}
