//! What is around every message: four bytes that name the format, and the type of the object. And
//! what is around both in a watch: the event and a length.

use super::wire::{Malformed, Records, put_bytes, put_message};

const PREFIX: &[u8] = b"k8s\0";

/// A body without its wrapping.
#[derive(Debug)]
pub(super) struct Envelope<'a> {
    pub(super) api_version: String,
    pub(super) kind: String,
    /// The message.
    pub(super) raw: &'a [u8],
}

impl Envelope<'_> {
    /// The type, completed with that of the request.
    pub(super) fn or<'b>(&'b self, expected: (&'b str, &'b str)) -> (&'b str, &'b str) {
        let given = |text: &'b str, other: &'b str| if text.is_empty() { other } else { text };
        (given(&self.api_version, expected.0), given(&self.kind, expected.1))
    }
}

/// Takes a body apart.
pub(super) fn open(body: &[u8]) -> Result<Envelope<'_>, Malformed> {
    if body.is_empty() {
        return Err(Malformed::NoData);
    }
    let message = body.strip_prefix(PREFIX).ok_or(Malformed::NoPrefix)?;
    if message.is_empty() {
        return Err(Malformed::NoBody);
    }
    let mut found = Envelope { api_version: String::new(), kind: String::new(), raw: &[] };
    for record in Records::new("Unknown", message) {
        match record? {
            (1, payload) => (found.api_version, found.kind) = type_in(payload.bytes("TypeMeta")?)?,
            (2, payload) => found.raw = payload.bytes("Raw")?,
            _ => {}
        }
    }
    Ok(found)
}

fn type_in(bytes: &[u8]) -> Result<(String, String), Malformed> {
    let (mut api_version, mut kind) = (String::new(), String::new());
    for record in Records::new("TypeMeta", bytes) {
        match record? {
            (1, payload) => api_version = text(payload.bytes("APIVersion")?),
            (2, payload) => kind = text(payload.bytes("Kind")?),
            _ => {}
        }
    }
    Ok((api_version, kind))
}

/// Text as Go would show it in JSON.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Makes a body.
pub(super) fn seal(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut out = PREFIX.to_vec();
    put_message(1, &mut out, |out| {
        put_bytes(1, api_version.as_bytes(), out);
        put_bytes(2, kind.as_bytes(), out);
    });
    put_bytes(2, message, &mut out);
    put_bytes(3, b"", &mut out); // the encoding
    put_bytes(4, b"", &mut out); // the content type
    out
}

/// Makes a frame of a watch.
pub(super) fn watch_frame(word: &str, body: &[u8]) -> Vec<u8> {
    let mut event = Vec::new();
    put_bytes(1, word.as_bytes(), &mut event);
    put_message(2, &mut event, |out| put_bytes(1, body, out));
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &event].concat()
}
