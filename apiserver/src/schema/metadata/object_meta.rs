//! The fields of `metadata`, read from JSON.

use serde_json::{Map, Value};

use crate::schema::{FieldError, FieldPath};

/// Borrowed metadata; what is absent or `null` is empty, as it is for kube-apiserver.
#[derive(Debug)]
pub(super) struct ObjectMeta<'a> {
    pub(super) name: &'a str,
    pub(super) generate_name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) uid: &'a str,
    pub(super) resource_version: &'a str,
    pub(super) generation: i64,
    pub(super) creation_timestamp: Option<&'a str>,
    pub(super) deletion_timestamp: Option<&'a str>,
    pub(super) deletion_grace_period: Option<i64>,
    pub(super) labels: Option<&'a Map<String, Value>>,
    pub(super) annotations: Option<&'a Map<String, Value>>,
    pub(super) finalizers: Vec<&'a str>,
    pub(super) owner_references: &'a [Value],
    pub(super) managed_fields: &'a [Value],
}

impl<'a> ObjectMeta<'a> {
    /// Reads metadata; the error names the first field of a wrong type.
    pub(super) fn read(metadata: &'a Value, path: &'a FieldPath) -> Result<Self, FieldError> {
        if !metadata.is_object() && !metadata.is_null() {
            return Err(FieldError::type_invalid(path, metadata, "must be an object"));
        }
        let reader = Reader { metadata, path };
        let text = |name| Ok(reader.text(name)?.unwrap_or_default());
        Ok(Self {
            name: text("name")?,
            generate_name: text("generateName")?,
            namespace: text("namespace")?,
            uid: text("uid")?,
            resource_version: text("resourceVersion")?,
            generation: reader.number("generation")?.unwrap_or_default(),
            creation_timestamp: reader.text("creationTimestamp")?,
            deletion_timestamp: reader.text("deletionTimestamp")?,
            deletion_grace_period: reader.number("deletionGracePeriodSeconds")?,
            labels: reader.texts_by_key("labels")?,
            annotations: reader.texts_by_key("annotations")?,
            finalizers: reader.texts("finalizers")?,
            owner_references: reader.objects("ownerReferences")?,
            managed_fields: reader.objects("managedFields")?,
        })
    }
}

struct Reader<'a> {
    metadata: &'a Value,
    path: &'a FieldPath,
}

impl<'a> Reader<'a> {
    fn read<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, FieldError> {
        let Some(value) = self.metadata.get(name).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let wrong = || {
            let path = self.path.child(name);
            FieldError::type_invalid(&path, value, format!("must be {expected}"))
        };
        read(value).map(Some).ok_or_else(wrong)
    }

    fn text(&self, name: &str) -> Result<Option<&'a str>, FieldError> {
        self.read(name, "a string", Value::as_str)
    }

    fn number(&self, name: &str) -> Result<Option<i64>, FieldError> {
        self.read(name, "an integer", Value::as_i64)
    }

    fn texts_by_key(&self, name: &str) -> Result<Option<&'a Map<String, Value>>, FieldError> {
        let strings = |map: &&Map<_, Value>| map.values().all(|v| v.is_string() || v.is_null());
        self.read(name, "a map of strings", |value| value.as_object().filter(strings))
    }

    fn texts(&self, name: &str) -> Result<Vec<&'a str>, FieldError> {
        let read = |value: &'a Value| value.as_array()?.iter().map(Value::as_str).collect();
        Ok(self.read(name, "a list of strings", read)?.unwrap_or_default())
    }

    fn objects(&self, name: &str) -> Result<&'a [Value], FieldError> {
        let objects = |items: &&Vec<Value>| items.iter().all(Value::is_object);
        let read = |value: &'a Value| value.as_array().filter(objects);
        Ok(self.read(name, "a list of objects", read)?.map_or(&[], Vec::as_slice))
    }
}
