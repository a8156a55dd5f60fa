//! How many children of a type may be unavailable at a time while they are changed.

use serde::{Deserialize, Serialize};

use super::ChildConfigError;

/// A rollout: how changes of many children of one type are spread.
///
/// A child that is ready is changed (or deleted, to be recreated) only while fewer children of its type than
/// allowed are unavailable: missing, not [ready](crate::object::Readiness), or being changed. The children are
/// changed in the order in which the handler returns them. A child that is not ready anyway is changed at once,
/// and a missing one is created at once: neither makes another one unavailable. Everything is decided from the
/// children as they are, so a restart of the process continues a rollout, and a new spec takes over.
///
/// A child whose change the API server refuses stays as it is, and the others are changed. One that it refuses to
/// create does not count as unavailable.
///
/// The rollout stops after so many updated children have failed, until one of them recovers or the spec changes.
/// The conditions `Progressing` and `Updated` of the parent say how far it is.
///
/// Types without a status are ready as soon as they are written. A type whose condition `Ready` has no
/// `observedGeneration` looks ready until its controller notices the change: use
/// [`OperatorConfig::ready_when`](super::OperatorConfig::ready_when).
///
/// ```
/// use operetta::{operator::Rolling, prelude::*};
///
/// let one_by_one = ChildConfig::apply().rolling(Rolling::max_unavailable(1));
/// let in_quarters = ChildConfig::recreate()
///     .rolling(Rolling::max_unavailable_percent(25).stopping_after(3));
/// # assert_ne!(one_by_one, in_quarters);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rolling {
    /// How many children of the type may be unavailable at a time.
    pub max_unavailable: Unavailable,
    /// After how many failed children the rollout stops. Default 1.
    #[serde(default = "one")]
    pub stop_after: u32,
}

/// A number of children, or a share of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unavailable {
    /// So many.
    Count(u32),
    /// So many percent of the desired children of the type: rounded down, and at least one.
    Percent(u8),
}

impl Rolling {
    /// At most so many children of the type are unavailable at a time.
    pub fn max_unavailable(count: u32) -> Self {
        Self { max_unavailable: Unavailable::Count(count), stop_after: 1 }
    }

    /// At most so many percent of the desired children of the type are unavailable at a time: rounded down, and
    /// at least one.
    pub fn max_unavailable_percent(percent: u8) -> Self {
        Self { max_unavailable: Unavailable::Percent(percent), stop_after: 1 }
    }

    /// Sets after how many failed children the rollout stops.
    #[must_use]
    pub fn stopping_after(self, failures: u32) -> Self {
        Self { stop_after: failures, ..self }
    }

    /// Refuses what changes nothing.
    pub(super) fn validate(self) -> Result<(), ChildConfigError> {
        match self.max_unavailable {
            Unavailable::Count(0) | Unavailable::Percent(0) => Err(ChildConfigError::RollsNone),
            Unavailable::Percent(percent @ 101..) => Err(ChildConfigError::RollsMore(percent)),
            _ if self.stop_after == 0 => Err(ChildConfigError::StopsAtOnce),
            _ => Ok(()),
        }
    }

    /// How many of so many children may be unavailable.
    pub(crate) fn allows(self, of: usize) -> usize {
        match self.max_unavailable {
            Unavailable::Count(count) => usize::try_from(count).unwrap_or(usize::MAX),
            Unavailable::Percent(percent) => (of * usize::from(percent) / 100).max(1),
        }
    }
}

fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};

    use super::*;
    use crate::operator::{ChildConfig, OperatorConfig};

    #[test]
    fn a_share_is_rounded_down_and_at_least_one() {
        for (percent, of, allowed) in [(25, 8, 2), (25, 7, 1), (25, 3, 1), (100, 3, 3), (1, 0, 1)] {
            let rolling = Rolling::max_unavailable_percent(percent);
            assert_eq!(rolling.allows(of), allowed, "{percent} % of {of}");
        }
        assert_eq!(Rolling::max_unavailable(3).allows(1), 3);
    }

    #[test]
    fn a_rollout_that_cannot_work_says_what_to_write_instead() {
        let refused = |config: ChildConfig| {
            let config = OperatorConfig::of::<ConfigMap>("op").child::<Pod>(config);
            config.validate().unwrap_err().to_string()
        };
        let rolling = |rolling| ChildConfig::apply().rolling(rolling);
        for (config, why) in [
            (
                rolling(Rolling::max_unavailable(0)),
                "a rollout of 0 changes nothing: allow at least one child",
            ),
            (
                rolling(Rolling::max_unavailable_percent(0)),
                "a rollout of 0 changes nothing: allow at least one child",
            ),
            (
                rolling(Rolling::max_unavailable_percent(101)),
                "a rollout of 101 % is too much: allow at most 100 %",
            ),
            (
                rolling(Rolling::max_unavailable(1).stopping_after(0)),
                "a rollout that stops after 0 failures never begins: allow at least one",
            ),
            (
                ChildConfig::on_delete().rolling(Rolling::max_unavailable(1)),
                "`rolling(..)` spreads changes, and `on_delete()` changes nothing: remove one of them",
            ),
        ] {
            assert_eq!(refused(config), format!("operator `op`: Pod.v1: {why}"));
        }
        let config = rolling(Rolling::max_unavailable(1));
        let config = OperatorConfig::of::<ConfigMap>("op").child::<Pod>(config);
        assert_eq!(config.validate(), Ok(()));
    }
}
