//! The field managers whose entries were dropped when objects were read.

use std::collections::HashSet;

/// So many managers that were passed over are known by name.
const MOST: usize = 1000;

/// The managers whose entries were dropped: their fields of cached objects are unknown.
#[derive(Debug, Default)]
pub(super) struct PassedOver {
    managers: HashSet<Box<str>>,
    /// Whether there were more than are kept.
    is_incomplete: bool,
}

impl PassedOver {
    pub(super) fn includes(&self, manager: &str) -> bool {
        self.is_incomplete || self.managers.contains(manager)
    }

    pub(super) fn add(&mut self, manager: &str) {
        if self.managers.len() < MOST {
            self.managers.insert(manager.into());
        } else {
            self.is_incomplete = true;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.managers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_managers_that_were_passed_over_is_limited() {
        let mut passed_over = PassedOver::default();
        for number in 0..MOST {
            passed_over.add(&number.to_string());
        }
        assert!(!passed_over.includes("other"));
        passed_over.add("one more");
        assert!(passed_over.includes("other"), "it may have been one of them");
        assert_eq!(passed_over.managers.len(), MOST);
    }
}
