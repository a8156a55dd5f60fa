//! How often in a row a handler has failed for a parent.

use crate::object::Object;

/// How often in a row a handler has failed for a parent; another generation or its deletion starts again at
/// 0.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HandlerFailures {
    times: u32,
    is_deleting: bool,
    /// -1 for a type that has none.
    generation: i64,
}

impl HandlerFailures {
    /// The failures for this state of a parent.
    pub(crate) fn of(self, parent: &Object) -> u32 {
        self.for_a(parent.generation().unwrap_or(-1), parent.is_deleting())
    }

    pub(super) fn answered(&mut self, has_failed: bool, generation: i64, is_deleting: bool) {
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
