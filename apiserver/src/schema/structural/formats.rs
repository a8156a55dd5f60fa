//! The formats in a schema that mean nothing for their type.

use serde_json::Value;

use super::inner::{has, type_name};
use crate::schema::{SchemaType, crd::text, validate::format};

/// The names of the formats that are ignored.
pub(crate) fn unrecognized(schema: &Value) -> Vec<String> {
    let found = std::cell::RefCell::new(Vec::new());
    has(schema, &|schema| {
        let name = text(schema, "format").filter(|name| !name.is_empty());
        if let Some(name) = name.filter(|name| !is_known(name, type_name(schema))) {
            found.borrow_mut().push(name.to_owned());
        }
        false
    });
    found.into_inner()
}

fn is_known(name: &str, ty: &str) -> bool {
    match (ty, SchemaType::from_open_api(ty)) {
        ("", _) => format::is_known_for(name, &[]),
        (_, Some(ty)) => format::is_known_for(name, &[ty]),
        (_, None) => false,
    }
}
