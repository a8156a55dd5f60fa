//! Warnings that are sent once per operator, whichever parent causes them. Bounded, against handlers that
//! return ever new field names.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

#[derive(Debug, Default)]
pub(super) struct WarnOnce(Mutex<BTreeSet<String>>);

/// More than a correct operator needs.
const MOST: usize = 100;

impl WarnOnce {
    /// Whether to send this warning: it is new, and the bound is not reached.
    pub(super) fn is_due(&self, what: &str) -> bool {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sent.len() < MOST && sent.insert(what.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_warning_is_sent_once_up_to_a_bound() {
        let sent = WarnOnce::default();
        assert!(sent.is_due("a") && sent.is_due("b") && !sent.is_due("a"));
        let names = (0..1000).map(|number| number.to_string());
        assert_eq!(names.filter(|name| sent.is_due(name)).count(), MOST - 2);
    }
}
