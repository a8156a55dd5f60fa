//! Which values of an object are as they were before an update: errors of those are not reported.

use crate::schema::Pair;

/// What is known of a place in the object before the update.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratchet<'a> {
    current: Option<Pair<'a>>,
    /// The nearest value around that can be found in both.
    around: Option<Pair<'a>>,
}

impl<'a> Ratchet<'a> {
    pub(super) fn new(current: Option<Pair<'a>>) -> Self {
        Self { current, around: None }
    }

    /// A field or the value of a key.
    pub(super) fn key(self, name: &str) -> Self {
        match self.current {
            None => self,
            Some(_) if self.around.is_none() && matches!(name, "apiVersion" | "kind") => {
                Self::new(None)
            }
            Some(pair) => Self { current: pair.key(name), around: Some(pair) },
        }
    }

    /// An element.
    pub(super) fn index(self, at: usize) -> Self {
        match self.current {
            None => self,
            Some(pair) => Self { current: pair.index(at), around: Some(pair) },
        }
    }

    /// Whether the value, or what is around it, is as before.
    pub(super) fn is_unchanged(self) -> bool {
        self.current.or(self.around).is_some_and(Pair::is_equal)
    }
}
