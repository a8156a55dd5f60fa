//! `metadata.uid`, compact: there are about ten for every parent.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};
use uuid::{Uuid, fmt::Hyphenated};

/// `metadata.uid`: the only identifier of an object that is never used again.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(Form);

/// Every API server generates UUIDs, but none guarantees it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Form {
    Uuid(Uuid),
    Other(Arc<str>),
}

impl Uid {
    /// The uid as the server wrote it.
    pub fn new(text: &str) -> Self {
        match Uuid::try_parse(text) {
            // With capitals, in braces or without hyphens it is the uid of another object.
            Ok(uuid) if uuid.hyphenated().encode_lower(&mut buffer()) == text => {
                Self(Form::Uuid(uuid))
            }
            _ => Self(Form::Other(Arc::from(text))),
        }
    }

    /// Passes the uid on as the server wrote it.
    pub(super) fn as_text<T>(&self, use_it: impl FnOnce(&str) -> T) -> T {
        match &self.0 {
            Form::Uuid(uuid) => use_it(uuid.hyphenated().encode_lower(&mut buffer())),
            Form::Other(text) => use_it(text),
        }
    }
}

fn buffer() -> [u8; Hyphenated::LENGTH] {
    [0; Hyphenated::LENGTH]
}

impl PartialEq<str> for Uid {
    fn eq(&self, other: &str) -> bool {
        self.as_text(|text| text == other)
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_text(|text| f.pad(text))
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_text(|text| serializer.serialize_str(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "57eca7a4-3ae5-46b0-a788-91cad71e6626";

    #[test]
    fn a_uid_is_shown_as_the_server_wrote_it() {
        let capitals = USUAL.to_uppercase();
        let bare = USUAL.replace('-', "");
        for text in [USUAL, &capitals, &bare, &format!("{{{USUAL}}}"), "u", ""] {
            let uid = Uid::new(text);
            assert_eq!(uid.to_string(), text);
            assert_eq!(serde_json::to_value(&uid).unwrap(), text);
            assert!(uid == *text && uid != *"another");
        }
    }

    #[test]
    fn another_notation_of_a_uuid_is_another_uid() {
        assert_eq!(Uid::new(USUAL), Uid::new(USUAL));
        assert_ne!(Uid::new(USUAL), Uid::new(&USUAL.to_uppercase()));
        assert_ne!(Uid::new(USUAL), Uid::new(&USUAL.replace('-', "")));
    }

    #[test]
    fn a_usual_uid_needs_no_allocation() {
        assert!(matches!(Uid::new(USUAL).0, Form::Uuid(_)));
        assert_eq!(size_of::<Option<Uid>>(), 24);
    }
}
