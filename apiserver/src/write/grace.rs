//! How long a deleted Pod gets to end. Only where Pods are simulated there is a kubelet that ends them.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{DeleteOptions, peculiar};
use crate::{clock::seconds as text_of, cluster::Cluster, resource::Resource};

/// The grace period of a Pod that does not say one.
const DEFAULT: i64 = 30;

/// The seconds that a deletion gives an object: none to what does not run on a node.
pub(super) fn seconds(
    cluster: &Cluster,
    resource: &Resource,
    object: &Value,
    options: &DeleteOptions,
) -> i64 {
    let is_assigned = object["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    let has_ended = matches!(object["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    if !cluster.graceful || !peculiar::deletes_gracefully(resource) || !is_assigned || has_ended {
        return 0;
    }
    let own = || object["spec"]["terminationGracePeriodSeconds"].as_i64();
    let given = options.grace.or_else(own).unwrap_or(DEFAULT);
    let given = if given < 0 { 1 } else { given };
    present(object).map_or(given, |present| present.min(given))
}

/// Gives an object that is being deleted less time.
pub(super) fn shorten(object: &mut Value, seconds: i64) {
    let Some(present) = present(object).filter(|present| *present > seconds) else { return };
    let metadata = &mut object["metadata"];
    let deadline = metadata["deletionTimestamp"].as_str().and_then(|text| text.parse().ok());
    let earlier = |deadline: Timestamp| {
        deadline.checked_sub(SignedDuration::from_secs(present - seconds)).ok()
    };
    if let Some(deadline) = deadline.and_then(earlier) {
        metadata["deletionTimestamp"] = json!(text_of(deadline));
    }
    metadata["deletionGracePeriodSeconds"] = json!(seconds);
}

/// The time at which an object has to have ended.
pub(super) fn deadline(cluster: &Cluster, seconds: i64) -> String {
    let now = cluster.clock.now();
    text_of(now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(now))
}

/// Whether an object that is being deleted has time left.
pub(super) fn is_left(object: &Value) -> bool {
    present(object).is_some_and(|present| present > 0)
}

fn present(object: &Value) -> Option<i64> {
    let metadata = &object["metadata"];
    let seconds = metadata["deletionGracePeriodSeconds"].as_i64();
    seconds.filter(|_| !metadata["deletionTimestamp"].is_null())
}
