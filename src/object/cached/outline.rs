//! The parts of an object that are read before it is worth keeping: one pass over the text, without
//! a copy of it.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use super::{
    KeptManagers, Object, ParseObjectError,
    managed::Entry,
    metadata_fields::MetadataFields,
    object::{Facts, METADATA_FIRST},
    sample::Own,
};
use crate::object::{
    K8sType, ObjectKey, ResourceVersion, Uid,
    json::{BorrowedText, ObjectWriter, RawFields, is_too_deep, is_tree},
};

/// An object that is still text, with its name.
pub(crate) struct Outline<'a> {
    key: ObjectKey,
    uid: Cow<'a, str>,
    version: ResourceVersion,
    generation: Option<i64>,
    controller: Option<Uid>,
    metadata: Metadata<'a>,
    others: RawFields<'a>,
}

/// The fields of the root, without those that the type has already.
#[derive(Default)]
struct Root<'a> {
    metadata: Option<Metadata<'a>>,
    others: RawFields<'a>,
}

#[derive(Default)]
struct Metadata<'a> {
    fields: RawFields<'a>,
    managed: Vec<Entry<'a>>,
}

#[derive(Deserialize)]
struct OwnerReference<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    controller: Option<bool>,
}

impl<'a> Outline<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, ParseObjectError> {
        if u32::try_from(text.len()).is_err() {
            return Err(ParseObjectError::TooLarge);
        }
        let Root { metadata, others } = serde_json::from_str(text)?;
        let metadata: Metadata<'a> = metadata.ok_or(ParseObjectError::Missing("metadata"))?;
        let fields = &metadata.fields;
        // The kept texts are parsed later, when a failure would look like a missing field.
        let kept = || others.0.iter().chain(&fields.0).map(|(_, value)| value.get());
        if kept().any(is_too_deep) {
            return Err(ParseObjectError::TooDeep);
        }
        if !kept().all(is_tree) {
            return Err(ParseObjectError::NoTree);
        }
        let required = |name, path| match fields.text(name)? {
            Some(text) if !text.is_empty() => Ok(text),
            Some(_) | None => Err(ParseObjectError::Missing(path)),
        };
        let name = required("name", "metadata.name")?;
        let version = required("resourceVersion", "metadata.resourceVersion")?;
        Ok(Self {
            key: ObjectKey::new(fields.text("namespace")?.as_deref(), &name),
            uid: required("uid", "metadata.uid")?,
            version: ResourceVersion::new(&version),
            generation: fields.parse("generation")?,
            controller: controller(fields)?,
            metadata,
            others,
        })
    }

    pub(crate) fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub(crate) fn uid(&self) -> &str {
        &self.uid
    }

    pub(crate) fn version(&self) -> &ResourceVersion {
        &self.version
    }

    /// The uids that it names as its parents: its controller, and the values of these labels.
    pub(crate) fn parents(&self, labels: &BTreeSet<String>) -> Vec<Uid> {
        let mut parents: Vec<Uid> = self.controller.iter().cloned().collect();
        if labels.is_empty() {
            return parents;
        }
        let all: Option<HashMap<Cow<'_, str>, Value>> =
            self.metadata.fields.parse("labels").ok().flatten();
        let all = all.unwrap_or_default();
        let named = labels.iter().filter_map(|label| all.get(label.as_str())?.as_str());
        parents.extend(named.map(Uid::new));
        parents
    }

    pub(crate) fn keep(self, ty: &K8sType, managers: &KeptManagers) -> Object {
        let Metadata { fields, managed } = self.metadata;
        let bytes = METADATA_FIRST.len() + fields.bytes() + self.others.bytes();
        let mut writer = ObjectWriter::with_capacity(bytes);
        let metadata = writer.object("metadata", &fields);
        self.others.0.iter().for_each(|(name, value)| writer.field(name, value.get()));
        let namespace = self.key.namespace.map(|namespace| managers.share(&namespace));
        let uid = Uid::new(&self.uid);
        let own = Own::new(self.controller.as_ref(), &uid, &self.key.name, &self.version);
        Object(Arc::new(Facts {
            ty: ty.clone(),
            json: managers.store(ty, writer.finish(), &own),
            key: ObjectKey { namespace, ..self.key },
            uid,
            version: self.version,
            generation: self.generation,
            is_deleting: fields.get("deletionTimestamp").is_some_and(|time| time != "null"),
            managed: managers.reduce(managed, self.controller.as_ref()),
            controller: self.controller,
            metadata: u32::try_from(metadata).expect("is shorter than the whole text"),
            fields: MetadataFields::of(&fields),
            readiness: <_>::default(),
        }))
    }
}

impl Object {
    /// Parses an object of a known type from the JSON that the server sent.
    pub(crate) fn parse(
        ty: &K8sType,
        text: &str,
        managers: &KeptManagers,
    ) -> Result<Self, ParseObjectError> {
        Ok(Outline::read(text)?.keep(ty, managers))
    }

    /// The same from a JSON tree, for tests and for objects that were built in this process.
    pub fn from_value(
        ty: &K8sType,
        value: &Value,
        managers: &KeptManagers,
    ) -> Result<Self, ParseObjectError> {
        Self::parse(ty, &value.to_string(), managers)
    }
}

fn controller(metadata: &RawFields<'_>) -> Result<Option<Uid>, ParseObjectError> {
    let owners: Option<Vec<OwnerReference<'_>>> = metadata.parse("ownerReferences")?;
    let mut owners = owners.unwrap_or_default().into_iter();
    let controller = owners.find(|owner| owner.controller == Some(true));
    Ok(controller.map(|owner| Uid::new(&owner.uid)))
}

// === reading ===

impl<'de> Deserialize<'de> for Root<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RootVisitor)
    }
}

impl<'de> Deserialize<'de> for Metadata<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetadataVisitor)
    }
}

struct RootVisitor;

impl<'de> Visitor<'de> for RootVisitor {
    type Value = Root<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut root = Root::default();
        while let Some(BorrowedText(name)) = map.next_key()? {
            match name.as_ref() {
                "metadata" => root.metadata = Some(map.next_value()?),
                "apiVersion" | "kind" => drop(map.next_value::<IgnoredAny>()?),
                _ => root.others.0.push((name, map.next_value()?)),
            }
        }
        Ok(root)
    }
}

struct MetadataVisitor;

impl<'de> Visitor<'de> for MetadataVisitor {
    type Value = Metadata<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the metadata of an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut metadata = Metadata::default();
        while let Some(BorrowedText(name)) = map.next_key()? {
            if name == "managedFields" {
                metadata.managed = map.next_value::<Option<_>>()?.unwrap_or_default();
            } else {
                metadata.fields.0.push((name, map.next_value()?));
            }
        }
        Ok(metadata)
    }
}
