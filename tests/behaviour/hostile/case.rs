//! A case: where a secret is, who quotes it and when, and what it looks like. All follows from its number.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

/// Where the secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a marked field of the parent.
    Marked,
    /// In a marked map of the parent.
    MarkedMap,
    Data,
    StringData,
    /// In a Secret whose value is replaced when it is quoted.
    Rotated,
    /// In a Secret of somebody else that the handler reads.
    Related,
}

/// Who quotes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quote {
    Error,
    Panic,
    /// A label of the Secret, which the server refuses with its value.
    Label,
    /// An admission policy, by the text of its refusal.
    Policy,
    /// The answer to a write of the Secret, as a webhook words it.
    Answer,
    /// An annotation of the Secret that keeps a copy of it.
    Copy,
}

/// A number, and what follows from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case(pub(crate) u64);

const PLACES: [Place; 6] = [
    Place::Marked,
    Place::MarkedMap,
    Place::Data,
    Place::StringData,
    Place::Rotated,
    Place::Related,
];
const QUOTES: [Quote; 6] =
    [Quote::Error, Quote::Panic, Quote::Label, Quote::Policy, Quote::Answer, Quote::Copy];

/// How a value continues after the sentinel and the number.
const SHAPES: [&str; 8] = [
    "",
    "-\"quoted\\\"",
    "\nin lines of text\nand more of them",
    "={\"user\":\"a\",\"password\":[\"b\"]}",
    "-ßé€😀",
    "-0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
    "://user:password@host/path?a=b&c=%20",
    "\t<script>alert(1)</script>",
];

impl Case {
    pub(crate) fn place(self) -> Place {
        PLACES[self.digit(1, PLACES.len())]
    }

    pub(crate) fn quote(self) -> Quote {
        QUOTES[self.digit(PLACES.len(), QUOTES.len())]
    }

    /// Whether it is quoted when the children are created, not when they change.
    pub(crate) fn is_quoted_at_once(self) -> bool {
        self.place() != Place::Rotated && self.digit(PLACES.len() * QUOTES.len(), 2) == 0
    }

    pub(crate) fn name(self) -> String {
        format!("case-{}", self.0)
    }

    /// The secret, the second one when it was replaced.
    pub(crate) fn value(self, level: u64) -> String {
        let shape = SHAPES[self.digit(PLACES.len() * QUOTES.len() * 2, SHAPES.len())];
        let turn = if self.place() == Place::Rotated { level } else { 1 };
        format!("s3ntinel-{}-{turn}{shape}", self.0)
    }

    pub(crate) fn parent(self, level: u64) -> Value {
        let mut spec = json!({"case": self.0, "level": level});
        match self.place() {
            Place::Marked => spec["password"] = json!(self.value(level)),
            Place::MarkedMap => spec["tokens"] = json!({"first": self.value(level)}),
            _ => {}
        }
        json!({"metadata": {"name": self.name()}, "spec": spec})
    }

    /// The Secret that the handler returns.
    pub(crate) fn secret(self, level: u64) -> Value {
        let (name, value) = (self.name(), self.value(level));
        let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
        match self.place() {
            Place::StringData => secret["stringData"] = json!({"kept": value}),
            Place::Data | Place::Rotated => {
                secret["data"] = json!({"kept": BASE64_STANDARD.encode(&value)});
            }
            // A copy, which another object proves to be secret.
            _ => secret["data"] = json!({"copy": BASE64_STANDARD.encode(&value)}),
        }
        secret
    }

    /// A part of the number, as a digit of this base above these.
    fn digit(self, above: usize, base: usize) -> usize {
        usize::try_from(self.0).unwrap() / above % base
    }
}
