//! The rows of the file: how objects and revisions are encoded. Pure.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    deep,
    group_resource::GroupResource,
    log::{Event, Object, ObjectKey},
};

/// Group, plural, namespace and name.
pub(super) type KeyRow<'a> = (&'a str, &'a str, &'a str, &'a str);
/// The event, the epoch of the schema, and the JSON of an object.
pub(super) type ObjectRow<'a> = (u8, u64, &'a [u8]);

/// The row of a key.
pub(super) fn key_row<'a>(resource: &'a GroupResource, key: &'a ObjectKey) -> KeyRow<'a> {
    (&resource.group, &resource.plural, &key.namespace, &key.name)
}

/// The row of an object with this JSON.
pub(super) fn object_row<'a>(object: &Object, json: &'a [u8]) -> ObjectRow<'a> {
    (code(object.event), object.epoch, json)
}

/// Whether the row of an object is that of its deletion.
pub(super) fn is_deletion((event, _, _): ObjectRow<'_>) -> bool {
    event == code(Event::Deleted)
}

/// The names of a key, with the resource of the row before if it is the same.
pub(super) fn read_key(
    (group, plural, namespace, name): KeyRow<'_>,
    before: Option<&Arc<GroupResource>>,
) -> (Arc<GroupResource>, ObjectKey) {
    let is_same = |it: &&Arc<GroupResource>| it.group == group && it.plural == plural;
    let resource = before.filter(is_same).cloned();
    let resource = resource.unwrap_or_else(|| Arc::new(GroupResource::new(group, plural)));
    (resource, ObjectKey::new(namespace, name))
}

/// The object of a row; `None` if it is not one.
pub(super) fn read_object((event, epoch, json): ObjectRow<'_>) -> Option<Arc<Object>> {
    let event = EVENTS.into_iter().find(|known| code(*known) == event)?;
    let value: Value = deep::parse(json).ok()?;
    if deep::is_deeper(&value, deep::ORDINARY) {
        deep::begin();
    }
    if !value["metadata"].is_object() {
        return None;
    }
    let object = Object::encode(event, &value, epoch);
    (object.meta.resource_version > 0).then(|| Arc::new(object))
}

const EVENTS: [Event; 3] = [Event::Added, Event::Modified, Event::Deleted];

fn code(event: Event) -> u8 {
    match event {
        Event::Added => 1,
        Event::Modified => 2,
        Event::Deleted => 3,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_the_same_after_it_was_written_and_read() {
        let value = json!({
            "apiVersion": "v1", "kind": "Pod", "spec": {"b": 1, "a": 1.5},
            "metadata": {"name": "a", "resourceVersion": "7", "finalizers": ["x"]},
        });
        for event in EVENTS {
            let object = Object::encode(event, &value, 9);
            let json = object.json();
            let read = read_object(object_row(&object, &json)).expect("it is an object");
            assert_eq!((read.frame(), read.event, read.epoch), (object.frame(), event, 9));
            assert_eq!(read.meta, object.meta);
        }
    }

    #[test]
    fn a_row_that_is_not_an_object_is_refused() {
        let good = br#"{"apiVersion":"v1","kind":"A","metadata":{"resourceVersion":"3"}}"#;
        assert!(read_object((1, 0, good)).is_some());
        assert!(read_object((0, 0, good)).is_none());
        for bad in [&b"{"[..], b"[]", b"{}", br#"{"metadata":{"resourceVersion":"x"}}"#] {
            assert!(read_object((1, 0, bad)).is_none(), "{bad:?}");
        }
    }
}
