//! A `HorizontalPodAutoscaler` says that nothing is measured here, and scales nothing.

use jiff::Timestamp;
use serde_json::Value;

use super::{condition, decision::Decision};

/// Decides about an autoscaler.
pub(super) fn decide(autoscaler: &Value, now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    let mut status = autoscaler["status"].clone();
    let message = "the cluster is simulated: it has no metrics, and scales nothing";
    for (kind, reason) in [("AbleToScale", "Simulated"), ("ScalingActive", "Simulated")] {
        condition::set(&mut status, (kind, "False", reason, message), &[], now);
    }
    decision.status(autoscaler, status);
    decision
}
