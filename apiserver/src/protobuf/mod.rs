//! Objects as protobuf, the form that most Go clients use for built-in types.
//!
//! ```text
//!  builtin (Go structs) --> layout (numbers) --+-- write: JSON -> message
//!                           kind (which one) --+-- read:  message -> JSON
//!                                              +-- special: times, quantities, schemas ..
//!  "k8s\0" + envelope { type, message }        <-- envelope
//! ```
//!
//! **Invariants**: functions of values only; what is written equals what Go writes for the same
//! object, byte by byte; whatever is read, nothing panics, and depth is bounded. Objects are kept as
//! JSON: protobuf is the form of a body and no more. Custom resources have no such form.

mod envelope;
mod kind;
mod layout;
mod read;
mod special;
#[cfg(test)]
mod tests;
pub(crate) mod wire;
mod write;

use bytes::Bytes;
use serde_json::{Map, Value};

pub(crate) use self::wire::Malformed;
use self::{envelope::Envelope, kind::Shape};
use crate::deep;

/// The media type of a body.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// The media type of a watch.
pub(crate) const WATCH_MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// Not even its type.
    #[error("{0}")]
    Envelope(Malformed),
    /// The object inside.
    #[error("{kind} in version {version:?}: {fault}")]
    Object { kind: String, version: String, fault: Malformed },
}

/// An object, of a kind that has a protobuf form, as a body.
pub(crate) fn encode(object: &Value) -> Option<Bytes> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let mut message = Vec::new();
    match kind::find(api_version, kind)? {
        Shape::Object(root) => write::message(layout::of(root), object, &mut message),
        Shape::List(item) => write::list(layout::of(item), object, &mut message),
    }
    Some(envelope::seal(api_version, kind, &message).into())
}

/// The object in a body; `expected` is the type that a body without one is of.
///
/// Fields that Go cannot tell from absent ones are absent.
pub(crate) fn decode(body: &[u8], expected: (&str, &str)) -> Result<Value, Unreadable> {
    let given = envelope::open(body).map_err(Unreadable::Envelope)?;
    let mut fields = Map::new();
    for (field, text) in [("apiVersion", &given.api_version), ("kind", &given.kind)] {
        if !text.is_empty() {
            fields.insert(field.to_owned(), Value::from(text.as_str()));
        }
    }
    let (api_version, kind) = given.or(expected);
    let read = match kind::find(api_version, kind) {
        None => Err(Malformed::Value(unregistered(api_version, kind))),
        Some(Shape::Object(root)) => read::message(layout::of(root), given.raw, 0, &mut fields),
        Some(Shape::List(item)) => read::list(layout::of(item), given.raw, &mut fields),
    };
    read.map_err(|fault| unreadable(&given, expected, fault))?;
    let object = Value::Object(fields);
    if deep::is_deeper(&object, deep::limit()) {
        deep::stop();
        return Err(unreadable(&given, expected, Malformed::TooDeep));
    }
    Ok(object)
}

fn unregistered(api_version: &str, kind: &str) -> String {
    format!(
        "no kind {kind:?} is registered for version {api_version:?} in scheme \
         \"pkg/runtime/scheme.go:111\""
    )
}

fn unreadable(given: &Envelope<'_>, expected: (&str, &str), fault: Malformed) -> Unreadable {
    let (api_version, kind) = given.or(expected);
    let version = api_version.rsplit('/').next().unwrap_or_default();
    Unreadable::Object { kind: kind.to_owned(), version: version.to_owned(), fault }
}

/// A frame of a watch, with its length before it.
pub(crate) fn watch_frame(word: &str, object: &Value) -> Option<Bytes> {
    Some(envelope::watch_frame(word, &encode(object)?).into())
}
