//! From the stored form to the form that a version shows.
//!
//! Objects are stored as they were written. If the schema has changed since, or another version is
//! requested, they are completed and converted; otherwise their bytes are sent unchanged.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{CustomType, Origin, Resource};
use crate::{builtin, log::Object, schema};

impl Resource {
    /// The object as this version shows it.
    pub(crate) fn decode(&self, object: &Object) -> Value {
        let mut value = object.value();
        if self.fits(object) {
            return value;
        }
        match &self.origin {
            Origin::BuiltIn(builtin) => builtin::convert(&mut value, builtin),
            Origin::Custom(custom) => {
                custom.forms.complete(&mut value, object.epoch);
                value = self.converted(custom, value);
            }
            // It has one version.
            Origin::Definition => {}
        }
        value
    }

    /// A custom object in this version, whose defaults are not filled in: those of the stored version were.
    fn converted(&self, custom: &CustomType, mut value: Value) -> Value {
        let version = self.api_version();
        if value["apiVersion"] == version {
            return value;
        }
        if let Some(converter) = &custom.converter {
            value = converter.read(value, &version);
        }
        value["apiVersion"] = json!(version);
        schema::prune(&self.schema, &mut value);
        value
    }

    /// The object's JSON as this version shows it.
    pub(crate) fn json(&self, object: &Object) -> Bytes {
        if self.fits(object) { object.json() } else { self.reencode(object).json() }
    }

    /// The same, to copy it.
    pub(crate) fn text<'o>(&self, object: &'o Object) -> Cow<'o, [u8]> {
        if self.fits(object) {
            object.text().into()
        } else {
            self.reencode(object).text().to_vec().into()
        }
    }

    /// The object's JSON without its type, with the closing brace but not the opening one.
    pub(crate) fn text_after_type<'o>(&self, object: &'o Object) -> Cow<'o, [u8]> {
        if self.fits(object) {
            object.text_after_type().into()
        } else {
            self.reencode(object).text_after_type().to_vec().into()
        }
    }

    /// Whether the stored bytes are what this version shows.
    pub(crate) fn fits(&self, object: &Object) -> bool {
        object.epoch == self.epoch && self.is_stored_form()
    }

    fn reencode(&self, object: &Object) -> Object {
        Object::encode(object.event, &self.decode(object), self.epoch)
    }
}
