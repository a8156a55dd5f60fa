//! `status.lastPhaseTransitionTime` of a `PersistentVolume`: the server sets it when a volume is created, and when
//! its phase changes and the client did not say when.

use serde_json::Value;

use crate::{cluster::Cluster, resource::Resource};

const TIME: &str = "lastPhaseTransitionTime";

/// Sets the time of a prepared volume; `live` is what it replaces. Objects of other types are not modified.
pub(super) fn set(
    cluster: &Cluster,
    resource: &Resource,
    object: &mut Value,
    live: Option<&Value>,
) {
    if resource.kind != "PersistentVolume" || !resource.id.group.is_empty() {
        return;
    }
    let (status, before) = (&object["status"], live.map(|live| &live["status"]));
    let is_same_phase = before.is_some_and(|before| before["phase"] == status["phase"]);
    let is_told = !status[TIME].is_null() && before.is_none_or(|it| it[TIME] != status[TIME]);
    let time = match before {
        _ if is_told => return,
        Some(before) if is_same_phase => before[TIME].clone(),
        _ => Value::from(cluster.clock.now_text()),
    };
    if !time.is_null() {
        object["status"][TIME] = time;
    }
}
