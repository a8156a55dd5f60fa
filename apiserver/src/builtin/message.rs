//! Kinds that travel without being resources, such as a request for a token.

use serde_json::Value;

use super::{
    catalog::{Message, messages},
    decode::decode_struct,
    round_trip::round_trip,
};

/// The kind of a name, if there is one.
pub(crate) fn message(kind: &str) -> Option<&'static Message> {
    messages().iter().find(|message| message.kind == kind)
}

/// Checks that every value has the type of its field, and returns the fields that the kind does not have. What is
/// left is as Go would write it.
pub(crate) fn read_message(message: &Message, object: &mut Value) -> Result<Vec<String>, String> {
    let unknown = decode_struct(message.root, object, "")?;
    round_trip(message.root, object);
    Ok(unknown)
}
