//! Ranges of hashes, and the objects that are in them.

use std::{fmt, ops::Range};

/// The objects whose field has a hash in one of the ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShardSelector {
    pub(super) field: Field,
    /// At least one. They may overlap.
    pub(super) ranges: Vec<Range<u128>>,
}

/// The field that is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Uid,
    Namespace,
}

impl ShardSelector {
    /// Whether an object with these fields is chosen. An object without a namespace has the empty one.
    pub(crate) fn chooses(&self, uid: &str, namespace: &str) -> bool {
        let hash = u128::from(match self.field {
            Field::Uid => hash(uid),
            Field::Namespace => hash(namespace),
        });
        self.ranges.iter().any(|range| range.contains(&hash))
    }
}

impl Field {
    /// The field of a path.
    pub(super) fn of(path: &str) -> Option<Self> {
        [Self::Uid, Self::Namespace].into_iter().find(|field| field.path() == path)
    }

    /// The path in a selector.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Uid => "object.metadata.uid",
            Self::Namespace => "object.metadata.namespace",
        }
    }
}

/// The selector as lists repeat it.
impl fmt::Display for ShardSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Range { start, end }) in self.ranges.iter().enumerate() {
            let or = if index == 0 { "" } else { " || " };
            let path = self.field.path();
            write!(f, "{or}shardRange({path}, '0x{start:016x}', '0x{end:016x}')")?;
        }
        Ok(())
    }
}

/// FNV-1a of 64 bits.
pub(super) fn hash(text: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}
