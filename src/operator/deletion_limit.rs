//! How many children may go before a person is asked. Says how many, counts nothing.

/// The annotation on a parent that lets held deletions go. Its value is the code that the condition
/// `DeletionsHeld` shows: it stands for exactly the children that are held, by their uids, so that
/// an annotation which is left behind never allows another deletion.
pub const ALLOW_DELETION_ANNOTATION: &str = "operetta.dev/allow-deletion";

/// How many children may be deleted before a person is asked.
///
/// It counts children that the handler no longer wants. Those that are recreated do not count, they
/// come back; nor do those of a parent that is deleted: Kubernetes collects them.
///
/// A reconcile that would delete more deletes none, while it creates and changes what the handler wants.
/// The condition `DeletionsHeld`, a Warning Event, HTTP and the metric
/// `operetta_children_held` say so. It stays so until these children are wanted again, or a person
/// allows it, and no minute that ends lets them go; what it takes is in the condition, see
/// [`ALLOW_DELETION_ANNOTATION`].
///
/// The default never holds back a parent with at most ten children, nor an operator with at most
/// fifty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionLimit {
    /// Of the children of one parent, in one reconcile. Default half of them, and 10 in any case.
    pub run: Allowance,
    /// Of all children of the operator, within a minute. Default half of them, and 50 in any case.
    /// It is counted by the process: one that starts anew begins a minute anew, though what is said to
    /// be held stays so, and only `run` bounds what a process that crashes again and again deletes.
    pub minute: Allowance,
}

/// A share of the children, and a number that may go however few there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// So many of a hundred may be deleted; 100 holds nothing back, whatever was held before.
    pub percent: u8,
    /// So many may be deleted in any case.
    pub at_least: usize,
}

impl Allowance {
    /// How many of so many children may be deleted.
    pub fn of(self, children: usize) -> usize {
        if self.percent >= 100 {
            // Also where it is not known how many there were.
            return usize::MAX;
        }
        let share = children.saturating_mul(usize::from(self.percent)) / 100;
        share.max(self.at_least)
    }
}

impl Default for DeletionLimit {
    fn default() -> Self {
        Self {
            run: Allowance { percent: 50, at_least: 10 },
            minute: Allowance { percent: 50, at_least: 50 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        object::K8sType,
        operator::{ConfigError, OperatorConfig},
    };

    #[test]
    fn the_larger_of_share_and_number_may_go() {
        for (percent, at_least, children, expected) in [
            (50, 10, 0, 10),
            (50, 10, 20, 10),
            (50, 10, 21, 10),
            (50, 10, 22, 11),
            (0, 0, 100, 0),
            (99, 0, 200, 198),
            (99, 0, usize::MAX, usize::MAX / 100),
            (100, 0, 0, usize::MAX),
            (100, 0, 7, usize::MAX),
        ] {
            let allowance = Allowance { percent, at_least };
            assert_eq!(allowance.of(children), expected, "{allowance:?} of {children}");
        }
    }

    #[test]
    fn a_limit_is_there_unless_it_is_taken_away() {
        let config = OperatorConfig::new("a", K8sType::cluster_scoped("v1", "Thing", "things"));
        let DeletionLimit { run, minute } = config.deletion_limit.expect("a limit");
        assert_eq!([10, 20, 100].map(|children| run.of(children)), [10, 10, 50]);
        assert_eq!([50, 100, 1000].map(|children| minute.of(children)), [50, 50, 500]);
    }

    #[test]
    fn a_percentage_is_at_most_a_hundred() {
        let config = OperatorConfig::new("a", K8sType::cluster_scoped("v1", "Thing", "things"));
        assert_eq!(config.validate(), Ok(()));
        let limit = DeletionLimit {
            minute: Allowance { percent: 101, at_least: 1 },
            ..DeletionLimit::default()
        };
        let config = config.with_deletion_limit(limit);
        assert!(matches!(config.validate(), Err(ConfigError::Percent { percent: 101, .. })));
        assert_eq!(config.without_deletion_limit().validate(), Ok(()));
    }
}
