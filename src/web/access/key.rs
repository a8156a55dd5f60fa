//! What is kept in place of a token or an id: its hash, so that what is in memory opens nothing.

use ring::digest::{self, SHA256};

/// The hash of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    /// Of several parts, each with its length, so that no two lists of parts are alike.
    pub(super) fn of(parts: &[&[u8]]) -> Self {
        let mut context = digest::Context::new(&SHA256);
        for part in parts {
            context.update(&part.len().to_le_bytes());
            context.update(part);
        }
        let mut key = [0; 32];
        key.copy_from_slice(context.finish().as_ref());
        Self(key)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
