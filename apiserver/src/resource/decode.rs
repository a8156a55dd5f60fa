//! From the stored form to the form that a version shows.
//!
//! Objects are stored as they were written. If the schema has changed since, or another version is
//! requested, they are pruned and defaulted again; otherwise their bytes are sent unchanged.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Origin, Resource};
use crate::{builtin, log::Object, schema};

impl Resource {
    /// The object as this version shows it.
    pub(crate) fn decode(&self, object: &Object) -> Value {
        let mut value = object.value();
        if self.fits(object) {
            return value;
        }
        if let Origin::BuiltIn(builtin) = self.origin {
            builtin::convert(&mut value, builtin);
        } else {
            let version = self.api_version();
            let is_own = value["apiVersion"] == version;
            if let Some(converter) = self.converter() {
                value = converter.read(value, &version);
            }
            value["apiVersion"] = json!(version);
            schema::prune(&self.schema, &mut value);
            // The defaults are those of the version in which it was stored.
            if is_own {
                schema::default(&self.schema, &mut value);
            }
        }
        value
    }

    /// The object's JSON as this version shows it.
    pub(crate) fn json(&self, object: &Object) -> Bytes {
        if self.fits(object) { object.json() } else { self.reencode(object).json() }
    }

    /// The object's JSON without its type, with the closing brace but not the opening one.
    pub(crate) fn json_after_type(&self, object: &Object) -> Bytes {
        if self.fits(object) {
            object.json_after_type()
        } else {
            self.reencode(object).json_after_type()
        }
    }

    /// Whether the stored bytes are what this version shows.
    pub(crate) fn fits(&self, object: &Object) -> bool {
        object.epoch == self.epoch && self.is_stored_form()
    }

    fn reencode(&self, object: &Object) -> Object {
        Object::encode(object.event, self.decode(object), self.epoch)
    }
}
