//! A cached object, and what can be read from it.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    sync::{Arc, atomic::AtomicU8},
};

use serde::{Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;

use super::{
    managed::ManagedFields,
    metadata_fields::MetadataFields,
    packed::{Text, unpack},
    sample::Own,
};
use crate::object::{
    FieldSet, K8sType, ObjectKey, ResourceVersion, Uid,
    json::{ObjectWriter, RawFields},
};

/// One version of one object: its JSON text and the few facts that routing needs. Cheap to clone.
///
/// `apiVersion` and `kind` are not in the text (the type has them), nor are
/// `metadata.managedFields`: what operators need of these is kept beside it. `Debug` names the
/// object and never prints its content, so that no Secret is logged by accident.
#[derive(Clone)]
pub struct Object(pub(super) Arc<Facts>);

pub(super) struct Facts {
    pub(super) ty: K8sType,
    pub(super) key: ObjectKey,
    pub(super) uid: Uid,
    pub(super) version: ResourceVersion,
    pub(super) generation: Option<i64>,
    pub(super) is_deleting: bool,
    pub(super) controller: Option<Uid>,
    pub(super) managed: ManagedFields,
    pub(super) json: Text,
    /// The length of the metadata in `json`, where it comes first.
    pub(super) metadata: u32,
    pub(super) fields: MetadataFields,
    pub(super) readiness: AtomicU8,
}

/// The beginning of the text of every cached object.
pub(super) const METADATA_FIRST: &str = "{\"metadata\":";

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
    /// It has more than 4 GiB of metadata.
    #[error("not a Kubernetes object: too large")]
    TooLarge,
    /// It is nested more than 120 levels deep.
    #[error("not readable: nested more than {} levels deep", crate::object::json::MAX_DEPTH)]
    TooDeep,
    /// It has a number beyond 64 bits, or a text that is not Unicode.
    #[error("not readable: a number is too large, or a text is not Unicode")]
    NoTree,
    /// It has no such field, or the field is empty.
    #[error("not a Kubernetes object: `{0}` is missing")]
    Missing(&'static str),
}

impl Object {
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

    /// What is remembered of its readiness; 0 at first.
    pub(in crate::object) fn readiness_memo(&self) -> &AtomicU8 {
        &self.0.readiness
    }

    /// Whether an object that is being deleted waits for nothing any more: the server's response
    /// with it is then the last event about it.
    pub(crate) fn has_ended(&self) -> bool {
        let metadata = self.field("metadata").unwrap_or_default();
        let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or_default();
        // A Namespace stays until its content is deleted.
        let of_spec = self.field("spec").unwrap_or_default();
        let holds = of_spec["finalizers"].as_array().is_some_and(|holds| !holds.is_empty());
        self.is_deleting() && self.finalizers().is_empty() && grace == 0 && !holds
    }

    /// The uid in the owner reference with `controller: true`.
    pub fn controller(&self) -> Option<&Uid> {
        self.0.controller.as_ref()
    }

    /// The JSON without `apiVersion`, `kind` and `managedFields`.
    pub fn json(&self) -> Cow<'_, str> {
        self.beginning(usize::MAX)
    }

    /// How many bytes that is.
    pub(crate) fn bytes(&self) -> usize {
        self.0.json.len()
    }

    /// At most so many bytes of the JSON, which end where a character does.
    fn beginning(&self, most: usize) -> Cow<'_, str> {
        match &self.0.json {
            Text::Plain(text) => Cow::Borrowed(&text[..most.min(text.len())]),
            Text::Packed { bytes, sample } => {
                let own =
                    Own::new(self.controller(), self.uid(), self.name(), self.resource_version());
                Cow::Owned(unpack(bytes, &own, sample, most))
            }
        }
    }

    /// The JSON with `apiVersion` and `kind`.
    pub fn to_json(&self) -> String {
        let (api_version, kind) = (self.ty().api_version(), self.ty().kind());
        let bytes = self.bytes() + api_version.len() + kind.len() + 32;
        let mut writer = ObjectWriter::with_capacity(bytes);
        writer.text("apiVersion", api_version);
        writer.text("kind", kind);
        writer.finish_with(&self.json())
    }

    /// The object as a JSON tree, with `apiVersion` and `kind`.
    ///
    /// # Panics
    /// Never: the text was parsed as JSON before.
    pub fn to_value(&self) -> Value {
        let mut tree: Value = serde_json::from_str(&self.json()).expect("was parsed from JSON");
        for (name, value) in [("apiVersion", self.ty().api_version()), ("kind", self.ty().kind())] {
            tree[name] = Value::from(value);
        }
        tree
    }

    /// One field of the root, for example `spec` or `status`, as a tree.
    pub fn field(&self, name: &str) -> Option<Value> {
        let json = self.json();
        let fields: RawFields<'_> = serde_json::from_str(&json).unwrap_or_default();
        serde_json::from_str(fields.get(name)?).ok()
    }

    /// An object with these fields of a field of the root. The others, which may be many, are not parsed.
    pub(crate) fn part_of(&self, name: &str, fields: &[&str]) -> Value {
        let json = self.json();
        let root: RawFields<'_> = serde_json::from_str(&json).unwrap_or_default();
        let all: RawFields<'_> = root.parse(name).ok().flatten().unwrap_or_default();
        let parsed = |name: &&str| Some(((*name).to_owned(), all.parse::<Value>(name).ok()??));
        fields.iter().filter_map(parsed).collect()
    }

    /// `metadata.creationTimestamp` as the server writes it: these texts compare like their times.
    pub(crate) fn created(&self) -> Option<String> {
        self.metadata_field("creationTimestamp")
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
    pub(crate) fn applied_fields(&self, manager: &str) -> Option<FieldSet> {
        self.0.managed.applied_by(manager, self.controller())
    }

    /// Whether an operator of another name applied the object too.
    pub(crate) fn is_applied_by_another(&self, manager: &str) -> bool {
        self.0.managed.is_applied_by_another(manager)
    }

    /// The `fieldsV1` that a manager owns by server-side apply on the status; `None` if it never applied,
    /// or was not kept.
    pub(crate) fn applied_status(&self, manager: &str) -> Option<FieldSet> {
        self.0.managed.status_applied_by(manager)
    }

    /// What a manager owns of the status: one set for each way in which it wrote it, none if it was
    /// not kept.
    pub(crate) fn status_fields(&self, manager: &str) -> Vec<FieldSet> {
        self.0.managed.status_of(manager)
    }

    /// Whether a manager owns fields of the object itself by other writes than server-side apply;
    /// `false` if it was not kept.
    pub(crate) fn is_updated_by(&self, manager: &str) -> bool {
        self.0.managed.has_update_by(manager)
    }

    /// The field manager that changed the object itself after the last write of the kept managers.
    /// The server names only managers that still own something.
    pub(crate) fn changed_by(&self) -> Option<&str> {
        self.0.managed.changed_by()
    }

    /// What field managers own, including those that were not kept, as a hash that only shows
    /// whether it is the same.
    pub(crate) fn ownership_hash(&self) -> u64 {
        self.0.managed.of_all()
    }

    /// Whether as much is known of what its managers own as of another reading of the same version.
    pub(crate) fn is_read_as(&self, other: &Self) -> bool {
        self.0.managed.is_same(&other.0.managed)
    }

    fn metadata_field<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.of_metadata(name, |text| serde_json::from_str(text).ok())
    }

    /// The JSON of one field of the metadata.
    pub(crate) fn metadata_text(&self, name: &str) -> Option<String> {
        self.of_metadata(name, |text| Some(text.to_owned()))
    }

    /// What is made of the JSON of one field of the metadata.
    pub(super) fn of_metadata<T>(
        &self,
        name: &str,
        make: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if self.0.fields.lack(name) {
            return None;
        }
        let start = METADATA_FIRST.len();
        let beginning = self.beginning(start + self.0.metadata as usize);
        let fields: RawFields<'_> = serde_json::from_str(&beginning[start..]).ok()?;
        make(fields.get(name)?)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} @{}", self.ty(), self.key(), self.resource_version())
    }
}

/// Its JSON tree, with `apiVersion` and `kind`; [`Object::to_json`] is faster.
impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

/// Two values are equal if they are the same version of the same object.
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
