//! Versions of documents that clients keep: the same for the same content, written as the real server does.

use std::fmt::Write;

use ring::digest::{Context, SHA512};

/// What a version is made of, part by part.
#[derive(Clone)]
pub(crate) struct Content(Context);

impl Content {
    /// A content that begins with this part.
    pub(crate) fn new(part: &[u8]) -> Self {
        let mut content = Self(Context::new(&SHA512));
        content.add(part);
        content
    }

    pub(crate) fn add(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// 128 digits.
    pub(crate) fn tag(self) -> String {
        self.0.finish().as_ref().iter().fold(String::new(), |mut tag, byte| {
            // Writing to a string does not fail.
            let _ = write!(tag, "{byte:02X}");
            tag
        })
    }
}
