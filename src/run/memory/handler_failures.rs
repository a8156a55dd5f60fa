//! How often in a row a handler has failed for a parent.

use crate::{journal::Fact, object::Object};

/// How often in a row a handler has failed for a parent as it is: another spec is another matter, and so
/// is its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandlerFailures {
    times: u32,
    is_deleting: bool,
    /// -1 for a type that has none.
    generation: i64,
}

impl HandlerFailures {
    /// How many there were for a parent as it is now.
    pub fn of(self, parent: &Object) -> u32 {
        self.for_a(parent.generation().unwrap_or(-1), parent.is_deleting())
    }

    pub(super) fn learn(&mut self, fact: &Fact) {
        let Fact::Answered { has_failed, generation, is_deleting } = *fact else { return };
        let before = self.for_a(generation, is_deleting);
        *self = if has_failed {
            Self { times: before.saturating_add(1), is_deleting, generation }
        } else {
            Self::default()
        };
    }

    fn for_a(self, generation: i64, is_deleting: bool) -> u32 {
        if (self.generation, self.is_deleting) == (generation, is_deleting) {
            self.times
        } else {
            0
        }
    }
}
