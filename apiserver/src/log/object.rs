//! One stored state of one object: its JSON, ready to be sent, and the few facts that reads and garbage
//! collection need without parsing it.
//!
//! Knows no schemas: the reader checks whether the JSON still matches its type.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::labels::Labels;
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    pub labels: Labels,
    /// `metadata.ownerReferences`, which the children of a parent share.
    pub owners: Box<[Arc<OwnerReference>]>,
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
    /// Where the JSON of an object of a built-in type is after its type.
    rest_at: u32,
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
        let rest_at = frame.len() + type_len(value);
        builtin::write_json(value, &mut frame);
        frame.extend_from_slice(FRAME_TAIL);
        frame.shrink_to_fit();
        // What it leaves out is short.
        let rest_at = u32::try_from(rest_at).unwrap_or_default();
        Self { frame: frame.into(), rest_at, meta, event, epoch }
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
        [event.frame_head(), self.text(), FRAME_TAIL].concat().into()
    }

    /// The object's JSON, to keep it.
    pub(crate) fn json(&self) -> Bytes {
        self.frame.slice_ref(self.text())
    }

    /// The object's JSON.
    pub(crate) fn text(&self) -> &[u8] {
        self.text_from(self.event.frame_head().len())
    }

    /// The JSON of an object of a built-in type after `{"kind":…,"apiVersion":…,`, with the closing brace.
    pub(crate) fn text_after_type(&self) -> &[u8] {
        self.text_from(self.rest_at as usize)
    }

    fn text_from(&self, start: usize) -> &[u8] {
        &self.frame[start..self.frame.len() - FRAME_TAIL.len()]
    }

    /// The object as a tree.
    pub(crate) fn value(&self) -> Value {
        deep::parse(self.text()).expect("what was serialised here parses")
    }
}

impl Meta {
    fn read(value: &Value) -> Self {
        let metadata = &value["metadata"];
        Self {
            uid: text(&metadata["uid"]).into(),
            resource_version: text(&metadata["resourceVersion"]).parse().unwrap_or_default(),
            labels: Labels::read(&metadata["labels"]),
            owners: items(&metadata["ownerReferences"])
                .map(|owner| Arc::new(OwnerReference::read(owner)))
                .collect(),
            finalizers: items(&metadata["finalizers"]).map(|f| text(f).into()).collect(),
            deleting: !metadata["deletionTimestamp"].is_null(),
        }
    }

    /// Replaces owners by equal ones that are in memory already.
    pub(super) fn share_owners(
        &mut self,
        share: impl Fn(Arc<OwnerReference>) -> Arc<OwnerReference>,
    ) {
        for owner in &mut self.owners {
            *owner = share(Arc::clone(owner));
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
        assert!(object.text_after_type().starts_with(br#""metadata":"#));
    }
}
