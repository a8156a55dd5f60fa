//! One version of one Kubernetes object, held as its JSON.

mod lookup;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{
    K8sType, ObjectKey, ResourceVersion, Uid,
    json::{ObjectWriter, RawFields},
};

/// One version of one object: its JSON text and the few facts that routing needs. Cheap to clone.
///
/// `apiVersion` and `kind` are not in the text (the type has them), and `metadata.managedFields`
/// holds only the managers that the process asked to keep. `Debug` names the object and never
/// prints its content, so that no Secret reaches a log by accident.
#[derive(Clone)]
pub struct Object(Arc<Facts>);

struct Facts {
    ty: K8sType,
    key: ObjectKey,
    uid: Uid,
    version: ResourceVersion,
    generation: Option<i64>,
    is_deleting: bool,
    controller: Option<Uid>,
    json: Box<str>,
}

/// The field managers whose entries in `metadata.managedFields` are kept; all others are dropped.
#[derive(Debug, Clone, Default)]
pub struct KeptManagers(pub BTreeSet<String>);

/// A JSON text is not a Kubernetes object. The text is never quoted: it may be a Secret.
#[derive(Debug, thiserror::Error)]
pub enum ParseObjectError {
    /// It is not JSON, or a field has another JSON type than every object has.
    #[error("not a Kubernetes object: line {line}, column {column}, {category}")]
    Malformed {
        /// Line of the mistake, from 1.
        line: usize,
        /// Column of the mistake, from 1.
        column: usize,
        /// `syntax`, `data` or `eof`.
        category: &'static str,
    },
    /// It has no such field, or the field is empty.
    #[error("not a Kubernetes object: `{0}` is missing")]
    Missing(&'static str),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uid: Cow<'a, str>,
    #[serde(borrow, default)]
    resource_version: Cow<'a, str>,
    generation: Option<i64>,
    #[serde(borrow, default)]
    deletion_timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    owner_references: Option<Vec<OwnerReference<'a>>>,
}

#[derive(Deserialize)]
struct OwnerReference<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    controller: Option<bool>,
}

#[derive(Deserialize)]
struct ManagedFieldsEntry<'a> {
    #[serde(borrow, default)]
    manager: Cow<'a, str>,
}

impl Object {
    /// Reads an object of a known type from the JSON that the server sent.
    pub fn parse(
        ty: &K8sType,
        text: &str,
        managers: &KeptManagers,
    ) -> Result<Self, ParseObjectError> {
        let fields: RawFields<'_> = serde_json::from_str(text)?;
        let metadata = fields.get("metadata").ok_or(ParseObjectError::Missing("metadata"))?;
        let facts: Metadata<'_> = serde_json::from_str(metadata)?;
        for (name, value) in [
            ("metadata.name", &facts.name),
            ("metadata.uid", &facts.uid),
            ("metadata.resourceVersion", &facts.resource_version),
        ] {
            if value.is_empty() {
                return Err(ParseObjectError::Missing(name));
            }
        }
        let json = reduce(&fields, &reduce_metadata(metadata, managers)?, text.len());
        Ok(Self(Arc::new(Facts {
            ty: ty.clone(),
            key: ObjectKey::new(facts.namespace.as_deref(), &facts.name),
            uid: Uid::new(&facts.uid),
            version: ResourceVersion::new(&facts.resource_version),
            generation: facts.generation,
            is_deleting: facts.deletion_timestamp.is_some(),
            controller: controller(facts.owner_references.as_deref().unwrap_or_default()),
            json: json.into_boxed_str(),
        })))
    }

    /// The same from a JSON tree, for tests and for objects that were built in this process.
    pub fn from_value(
        ty: &K8sType,
        value: &Value,
        managers: &KeptManagers,
    ) -> Result<Self, ParseObjectError> {
        Self::parse(ty, &value.to_string(), managers)
    }

    /// The type.
    pub fn ty(&self) -> &K8sType {
        &self.0.ty
    }

    /// Namespace and name.
    pub fn key(&self) -> &ObjectKey {
        &self.0.key
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0.key.name
    }

    /// The namespace; `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        self.0.key.namespace.as_deref()
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &Uid {
        &self.0.uid
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.0.version
    }

    /// `metadata.generation`, where the type has one.
    pub fn generation(&self) -> Option<i64> {
        self.0.generation
    }

    /// Whether `metadata.deletionTimestamp` is set.
    pub fn is_deleting(&self) -> bool {
        self.0.is_deleting
    }

    /// The uid in the owner reference that says `controller: true`.
    pub fn controller(&self) -> Option<&Uid> {
        self.0.controller.as_ref()
    }

    /// The JSON as it is cached: without `apiVersion` and `kind`, `managedFields` reduced.
    pub fn json(&self) -> &str {
        &self.0.json
    }

    /// The JSON with `apiVersion` and `kind`.
    pub fn to_json(&self) -> String {
        let mut writer = ObjectWriter::with_capacity(self.0.json.len() + 64);
        writer.field("apiVersion", &Value::from(self.ty().api_version()).to_string());
        writer.field("kind", &Value::from(self.ty().kind()).to_string());
        let head = writer.finish();
        // Both are objects with at least one field: one closing brace becomes the comma.
        format!("{},{}", &head[..head.len() - 1], &self.0.json[1..])
    }

    /// The object as a JSON tree, with `apiVersion` and `kind`.
    ///
    /// # Panics
    /// Never: the text was parsed as JSON before.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.to_json()).expect("was parsed from JSON")
    }

    /// The object as a Rust type.
    pub fn parse_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.to_json())
    }

    /// One field of the root, for example `spec` or `status`, as a tree.
    pub fn field(&self, name: &str) -> Option<Value> {
        let fields: RawFields<'_> = serde_json::from_str(self.json()).ok()?;
        serde_json::from_str(fields.get(name)?).ok()
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.metadata_field("labels").unwrap_or_default()
    }

    /// `metadata.annotations`.
    pub fn annotations(&self) -> BTreeMap<String, String> {
        self.metadata_field("annotations").unwrap_or_default()
    }

    /// `metadata.finalizers`.
    pub fn finalizers(&self) -> Vec<String> {
        self.metadata_field("finalizers").unwrap_or_default()
    }

    /// The `fieldsV1` that a manager owns by server-side apply on the object itself (not on a
    /// subresource); `None` if it never applied, or was not kept.
    pub fn applied_fields(&self, manager: &str) -> Option<Value> {
        let entries: Vec<Value> = self.metadata_field("managedFields")?;
        let applied = |entry: &&Value| {
            entry["manager"] == manager
                && entry["operation"] == "Apply"
                && entry.get("subresource").is_none_or(|name| name == "")
        };
        entries.iter().find(applied).map(|entry| entry["fieldsV1"].clone())
    }

    /// Whether a manager owns fields of the object itself by other writes than server-side apply;
    /// `false` if it was not kept.
    pub fn is_updated_by(&self, manager: &str) -> bool {
        let entries: Vec<Value> = self.metadata_field("managedFields").unwrap_or_default();
        entries.iter().any(|entry| {
            entry["manager"] == manager
                && entry["operation"] == "Update"
                && entry.get("subresource").is_none_or(|name| name == "")
        })
    }

    fn metadata_field<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let fields: RawFields<'_> = serde_json::from_str(self.json()).ok()?;
        let metadata: RawFields<'_> = serde_json::from_str(fields.get("metadata")?).ok()?;
        serde_json::from_str(metadata.get(name)?).ok()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} @{}", self.ty(), self.key(), self.resource_version())
    }
}

/// Two values are equal when they are the same version of the same object.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.uid() == other.uid() && self.resource_version() == other.resource_version()
    }
}

impl From<serde_json::Error> for ParseObjectError {
    fn from(error: serde_json::Error) -> Self {
        let category = match error.classify() {
            serde_json::error::Category::Data => "data",
            serde_json::error::Category::Eof => "eof",
            serde_json::error::Category::Syntax | serde_json::error::Category::Io => "syntax",
        };
        Self::Malformed { line: error.line(), column: error.column(), category }
    }
}

fn controller(owners: &[OwnerReference<'_>]) -> Option<Uid> {
    owners.iter().find(|owner| owner.controller == Some(true)).map(|owner| Uid::new(&owner.uid))
}

/// The object without `apiVersion` and `kind`, and with other metadata.
fn reduce(fields: &RawFields<'_>, metadata: &str, capacity: usize) -> String {
    let mut writer = ObjectWriter::with_capacity(capacity);
    for (name, value) in &fields.0 {
        match name.as_ref() {
            "apiVersion" | "kind" => {}
            "metadata" => writer.field(name, metadata),
            _ => writer.field(name, value.get()),
        }
    }
    let mut json = writer.finish();
    json.shrink_to_fit();
    json
}

fn reduce_metadata(metadata: &str, managers: &KeptManagers) -> Result<String, ParseObjectError> {
    let fields: RawFields<'_> = serde_json::from_str(metadata)?;
    let mut writer = ObjectWriter::with_capacity(metadata.len());
    for (name, value) in &fields.0 {
        if name != "managedFields" {
            writer.field(name, value.get());
        } else if let Some(kept) = reduce_managers(value.get(), managers)? {
            writer.field(name, &kept);
        }
    }
    Ok(writer.finish())
}

fn reduce_managers(
    entries: &str,
    managers: &KeptManagers,
) -> Result<Option<String>, ParseObjectError> {
    let entries: Option<Vec<&RawValue>> = serde_json::from_str(entries)?;
    let mut kept = Vec::new();
    for entry in entries.unwrap_or_default() {
        let head: ManagedFieldsEntry<'_> = serde_json::from_str(entry.get())?;
        if managers.0.contains(head.manager.as_ref()) {
            kept.push(entry.get());
        }
    }
    Ok((!kept.is_empty()).then(|| format!("[{}]", kept.join(","))))
}

#[cfg(test)]
mod tests;
