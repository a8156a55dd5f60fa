//! Field managers as labels. Clients choose their names freely, so the number of labels is limited.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

#[derive(Debug, Default)]
pub(super) struct ManagerLabels(Mutex<BTreeSet<String>>);

/// More managers than usually write to the children of operators.
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
    fn only_the_first_managers_have_their_own_labels() {
        let labels = ManagerLabels::default();
        for number in 0..MAX_MANAGERS {
            let name = number.to_string();
            assert_eq!(labels.label(Some(&name)), name);
        }
        assert_eq!(labels.label(Some("late")), "other");
        assert_eq!((labels.label(Some("0")), labels.label(None)), ("0", "unknown"));
    }
}
