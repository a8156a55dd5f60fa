//! From the stored form to the form that a version shows.
//!
//! Objects are stored as they were written. When the schema has changed since, or another version
//! is asked for, they are pruned and defaulted again; otherwise their bytes are sent as they are.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Resource;
use crate::{
    log::{Event, Object},
    schema,
};

impl Resource {
    /// The object as this version shows it.
    pub(crate) fn decode(&self, object: &Object) -> Value {
        let mut value = object.value();
        if !self.fits(object) {
            value["apiVersion"] = json!(self.api_version());
            schema::prune(&self.schema, &mut value);
            schema::default(&self.schema, &mut value);
        }
        value
    }

    /// The object's JSON as this version shows it.
    pub(crate) fn json(&self, object: &Object) -> Bytes {
        if self.fits(object) { object.json() } else { self.reencode(object).json() }
    }

    /// The watch frame of the object as this version shows it.
    pub(crate) fn frame(&self, object: &Object) -> Bytes {
        if self.fits(object) { object.frame() } else { self.reencode(object).frame() }
    }

    /// The watch frame of the object under another event.
    pub(crate) fn frame_as(&self, object: &Object, event: Event) -> Bytes {
        if self.fits(object) {
            object.frame_as(event)
        } else {
            self.reencode(object).frame_as(event)
        }
    }

    fn fits(&self, object: &Object) -> bool {
        object.epoch == self.epoch && self.version == self.storage_version
    }

    fn reencode(&self, object: &Object) -> Object {
        Object::encode(object.event, self.decode(object), self.epoch)
    }
}
