//! Field managers as labels. Anybody may call himself anything, so that only the first names
//! become series of their own.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// The managers that have a label of their own.
#[derive(Debug, Default)]
pub(super) struct ManagerLabels(Mutex<BTreeSet<String>>);

/// More managers than have a reason to write to children of operators.
const MAX_MANAGERS: usize = 30;

impl ManagerLabels {
    /// The manager; `other` after too many others, `unknown` for none.
    pub(super) fn label<'a>(&self, manager: Option<&'a str>) -> &'a str {
        let Some(manager) = manager else { return "unknown" };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(manager) {
            if known.len() >= MAX_MANAGERS {
                return "other";
            }
            known.insert(manager.to_owned());
        }
        manager
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_managers_have_labels_of_their_own() {
        let labels = ManagerLabels::default();
        for number in 0..MAX_MANAGERS {
            let name = number.to_string();
            assert_eq!(labels.label(Some(&name)), name);
        }
        assert_eq!(labels.label(Some("late")), "other");
        assert_eq!((labels.label(Some("0")), labels.label(None)), ("0", "unknown"));
    }
}
