//! How fast simulated Pods are. Values only.

use std::time::Duration;

/// How long what simulated Pods do takes. Kubernetes keeps these times in whole seconds, so that each may be up to a
/// second shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadTiming {
    /// From the assignment to the node until the containers run and are ready: a second by default.
    pub start: Duration,
    /// How long containers run that are to end, those of Jobs: a second by default.
    pub run: Duration,
    /// From the deletion of a Pod until it is gone, at most its grace period: a second by default.
    pub stop: Duration,
}

impl Default for WorkloadTiming {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self { start: second, run: second, stop: second }
    }
}

impl WorkloadTiming {
    /// Everything happens at once.
    pub fn immediate() -> Self {
        Self { start: Duration::ZERO, run: Duration::ZERO, stop: Duration::ZERO }
    }
}
