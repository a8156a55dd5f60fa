//! Hashes of tokens and ids, so that memory contains no credentials.

use ring::digest::{self, SHA256};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    /// Hashes each part with its length, so that different lists of parts never collide.
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
