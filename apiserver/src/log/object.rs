//! One stored state of one object: its JSON, ready to be sent, and the few facts that reads and garbage
//! collection need without parsing it.
//!
//! Knows no schemas: the reader checks whether the JSON still matches its type.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

use crate::{builtin, deep};

/// The part of a watch frame before the object.
const FRAME_TAIL: &[u8] = b"}\n";

/// What an object takes beside its frame, roughly.
const OVERHEAD: usize = 512;

/// The event of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// It was created.
    Added,
    /// It was changed.
    Modified,
    /// It is gone; the object is its last state.
    Deleted,
}

impl Event {
    /// The name in the watch protocol.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }

    /// The start of a watch frame, `type` first.
    pub(crate) fn frame_head(self) -> &'static [u8] {
        match self {
            Self::Added => br#"{"type":"ADDED","object":"#,
            Self::Modified => br#"{"type":"MODIFIED","object":"#,
            Self::Deleted => br#"{"type":"DELETED","object":"#,
        }
    }
}

/// One `metadata.ownerReferences` entry, as far as garbage collection needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnerReference {
    /// The owner's uid: what counts.
    pub uid: Box<str>,
    /// `group/version` of the owner.
    pub api_version: Box<str>,
    /// The owner's kind.
    pub kind: Box<str>,
    /// The owner's name.
    pub name: Box<str>,
    /// Whether a foreground deletion of the owner waits for this object.
    pub block_owner_deletion: bool,
}

/// The facts about an object that are needed without parsing it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// `metadata.resourceVersion`.
    pub resource_version: u64,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.ownerReferences`.
    pub owners: Box<[OwnerReference]>,
    /// `metadata.finalizers`.
    pub finalizers: Box<[Box<str>]>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
}

/// One immutable state of an object.
///
/// The bytes are a whole watch frame, `{"type":"…","object":{…}}`; the object's JSON is a slice
/// of it. That of a built-in type starts with `kind` and `apiVersion`, which a slice can leave out.
#[derive(Debug)]
pub(crate) struct Object {
    frame: Bytes,
    json_at: usize,
    rest_at: usize,
    /// Facts read from the JSON.
    pub meta: Meta,
    /// The event that this state was written with.
    pub event: Event,
    /// Under which schema the object was written (see [`crate::resource::Resource::epoch`]).
    pub epoch: u64,
}

impl Object {
    /// Encodes an object; `value` is a complete object with `apiVersion`, `kind` and `metadata`.
    pub(crate) fn encode(event: Event, value: &Value, epoch: u64) -> Self {
        let meta = Meta::read(value);
        let mut frame = Vec::with_capacity(512);
        frame.extend_from_slice(event.frame_head());
        let json_at = frame.len();
        builtin::write_json(value, &mut frame);
        let rest_at = json_at + type_len(value);
        frame.extend_from_slice(FRAME_TAIL);
        frame.shrink_to_fit();
        Self { frame: frame.into(), json_at, rest_at, meta, event, epoch }
    }

    /// How many bytes it takes in memory, roughly.
    pub(crate) fn size(&self) -> usize {
        self.frame.len() + OVERHEAD
    }

    /// The watch frame under the event that this state was written with.
    pub(crate) fn frame(&self) -> Bytes {
        self.frame.clone()
    }

    /// The watch frame under another event.
    pub(crate) fn frame_as(&self, event: Event) -> Bytes {
        [event.frame_head(), &self.frame[self.json_at..]].concat().into()
    }

    /// The object's JSON.
    pub(crate) fn json(&self) -> Bytes {
        self.frame.slice(self.json_at..self.frame.len() - FRAME_TAIL.len())
    }

    /// The JSON of an object of a built-in type after `{"kind":…,"apiVersion":…,`, with the closing brace.
    pub(crate) fn json_after_type(&self) -> Bytes {
        self.frame.slice(self.rest_at..self.frame.len() - FRAME_TAIL.len())
    }

    /// The object as a tree.
    pub(crate) fn value(&self) -> Value {
        deep::parse(&self.json()).expect("what was serialised here parses")
    }
}

impl Meta {
    fn read(value: &Value) -> Self {
        let metadata = &value["metadata"];
        Self {
            uid: text(&metadata["uid"]).into(),
            resource_version: text(&metadata["resourceVersion"]).parse().unwrap_or_default(),
            labels: read_labels(&metadata["labels"]),
            owners: items(&metadata["ownerReferences"]).map(OwnerReference::read).collect(),
            finalizers: items(&metadata["finalizers"]).map(|f| text(f).into()).collect(),
            deleting: !metadata["deletionTimestamp"].is_null(),
        }
    }
}

impl OwnerReference {
    /// Reads an entry of `metadata.ownerReferences`.
    pub(crate) fn read(value: &Value) -> Self {
        Self {
            uid: text(&value["uid"]).into(),
            api_version: text(&value["apiVersion"]).into(),
            kind: text(&value["kind"]).into(),
            name: text(&value["name"]).into(),
            block_owner_deletion: value["blockOwnerDeletion"] == true,
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn read_labels(value: &Value) -> BTreeMap<String, String> {
    let labels = value.as_object().into_iter().flatten();
    labels.map(|(key, value)| (key.clone(), text(value).to_owned())).collect()
}

/// The length of the fields that every built-in type begins with, and of the brace before them.
fn type_len(value: &Value) -> usize {
    r#"{"kind":"","apiVersion":"","#.len()
        + text(&value["kind"]).len()
        + text(&value["apiVersion"]).len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_and_frame_are_slices_of_one_encoding() {
        let value = json!({
            "kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "b"},
            "metadata": {"name": "x", "resourceVersion": "7", "labels": {"l": "m"}},
        });
        let object = Object::encode(Event::Added, &value, 0);
        assert_eq!(object.value(), value);
        assert_eq!(object.meta.resource_version, 7);
        let frame: Value = serde_json::from_slice(&object.frame()).unwrap();
        assert_eq!(frame, json!({"type": "ADDED", "object": value}));
        let frame: Value = serde_json::from_slice(&object.frame_as(Event::Deleted)).unwrap();
        assert_eq!(frame, json!({"type": "DELETED", "object": value}));
        assert!(object.json_after_type().starts_with(br#""metadata":"#));
    }
}
