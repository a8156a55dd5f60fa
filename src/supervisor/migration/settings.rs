//! What a program says of migrations.

use std::num::NonZeroU32;

/// Who writes the objects of a [type in several versions](crate::operator::conversion::Versions) again that are stored in an
/// old version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// The leader, or each process where none is elected. The default.
    Automatic {
        /// The most objects that the process writes in a second. Default is 20.
        per_second: NonZeroU32,
    },
    /// Who runs `PROGRAM migrate`.
    ByHand,
}

const PER_SECOND: NonZeroU32 = NonZeroU32::new(20).unwrap();

impl Default for Migration {
    fn default() -> Self {
        Self::Automatic { per_second: PER_SECOND }
    }
}

impl Migration {
    /// Automatic, with at most so many objects in a second; by hand with zero.
    pub fn per_second(objects: u32) -> Self {
        NonZeroU32::new(objects).map_or(Self::ByHand, |per_second| Self::Automatic { per_second })
    }
}
