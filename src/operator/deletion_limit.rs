//! How many children may be deleted without approval. Defines the limits, counts nothing.

/// The annotation on a parent that allows its held deletions. Its value is the code in the
/// condition `DeletionsHeld`. The code identifies exactly the held children by their uids, so an
/// annotation that is left behind never allows another deletion.
pub const ALLOW_DELETION_ANNOTATION: &str = "operetta.dev/allow-deletion";

/// How many children may be deleted without the approval of an administrator.
///
/// It counts children that the handler no longer wants. Children that are recreated do not count,
/// nor do those of a parent that is being deleted: Kubernetes collects them.
///
/// A reconcile that would delete more deletes none, but still creates and changes children. The
/// condition `DeletionsHeld`, a Warning Event, HTTP and the metric `operetta_children_held` report
/// it. The deletions stay held, also when a minute ends, until the handler wants these children
/// again or an administrator allows the deletions; the condition shows how, see
/// [`ALLOW_DELETION_ANNOTATION`].
///
/// The default never holds back a parent with at most ten children, nor an operator with at most
/// fifty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionLimit {
    /// The limit for the children of one parent in one reconcile. Default half of them, and 10 in
    /// any case.
    pub reconcile: Allowance,
    /// The limit for all children of the operator within a minute. Default half of them, and 50 in
    /// any case. Processes that share the parents have their part of it each. The process counts it: a restarted one begins another minute. Deletions that are
    /// reported as held stay held, but only `reconcile` limits what a process that crashes
    /// repeatedly deletes.
    pub minute: Allowance,
}

/// A share of the children, and a number that may be deleted however few there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// How many percent may be deleted; 100 holds nothing back, whatever was held before.
    pub percent: u8,
    /// How many may be deleted in any case.
    pub at_least: usize,
}

impl Allowance {
    /// How many of so many children may be deleted.
    pub fn of(self, children: usize) -> usize {
        if self.percent >= 100 {
            // Even if the number of children is not known.
            return usize::MAX;
        }
        let share = children.saturating_mul(usize::from(self.percent)) / 100;
        share.max(self.at_least)
    }

    /// The part of a process that works in some of these buckets, rounded up.
    pub(crate) fn within(self, some: u32, all: u32) -> Self {
        let (some, all) = (widened(some), widened(all).max(1));
        Self { at_least: self.at_least.saturating_mul(some).div_ceil(all), ..self }
    }
}

fn widened(buckets: u32) -> usize {
    usize::try_from(buckets).unwrap_or(usize::MAX)
}

impl Default for DeletionLimit {
    fn default() -> Self {
        Self {
            reconcile: Allowance { percent: 50, at_least: 10 },
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
    fn the_larger_of_share_and_number_may_be_deleted() {
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
    fn processes_that_share_the_parents_share_the_number() {
        let allowance = Allowance { percent: 50, at_least: 50 };
        assert_eq!(allowance.within(64, 64), allowance);
        assert_eq!(allowance.within(22, 64).at_least, 18);
        assert_eq!(allowance.within(0, 64).at_least, 0);
        assert_eq!(allowance.within(22, 64).of(100), 50, "the percentage is of its own children");
    }

    #[test]
    fn there_is_a_limit_unless_it_is_removed() {
        let config = OperatorConfig::new("a", K8sType::cluster_scoped("v1", "Thing", "things"));
        let DeletionLimit { reconcile, minute } = config.deletion_limit.expect("a limit");
        assert_eq!([10, 20, 100].map(|children| reconcile.of(children)), [10, 10, 50]);
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
