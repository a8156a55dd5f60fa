//! What is said once for an operator, whichever parent it happens to. Bounded: a handler that makes
//! up ever new names for fields is not quoted for ever.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// What was said.
#[derive(Debug, Default)]
pub(super) struct WarnOnce(Mutex<BTreeSet<String>>);

/// More than an operator that is right about its types has to say.
const MOST: usize = 100;

impl WarnOnce {
    /// Whether this is to be said now: it was not yet, and not too much else was.
    pub(super) fn is_due(&self, what: &str) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.len() < MOST && said.insert(what.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_said_once_and_ever_new_names_not_for_ever() {
        let said = WarnOnce::default();
        assert!(said.is_due("a") && said.is_due("b") && !said.is_due("a"));
        let names = (0..1000).map(|number| number.to_string());
        assert_eq!(names.filter(|name| said.is_due(name)).count(), MOST - 2);
    }
}
