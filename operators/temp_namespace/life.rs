//! The lifecycle of a temporary namespace: a decision from values and `now`.

use std::time::Duration;

use k8s_openapi::{
    api::core::v1::Namespace, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp,
};

use super::{Phase, TempNamespaceStatus};

/// The delay of a deletion that waits until the creation is recorded in the status.
const RECORDING: Duration = Duration::from_secs(1);

/// The decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Life {
    /// Whether the namespace should exist.
    pub is_wanted: bool,
    /// Its status.
    pub status: TempNamespaceStatus,
    /// When to reconcile again although nothing changed.
    pub resync: Option<Duration>,
}

/// Decides from the recorded status, the namespace if it exists, and the clock.
///
/// The lifetime counts from the creation of the namespace or, once that is gone, from the recorded
/// creation. So it is deleted only after its creation was recorded: otherwise it would be created
/// again.
pub(super) fn life(
    recorded: &TempNamespaceStatus,
    namespace: Option<&Namespace>,
    lifetime: Duration,
    now: Timestamp,
) -> Life {
    let created_at = created_at(namespace).or(time(recorded.created_at.as_ref()));
    let expires_at = created_at.map(|at| at.checked_add(lifetime).unwrap_or(Timestamp::MAX));
    let is_over = expires_at.is_some_and(|at| at <= now);
    let is_recorded = created_at == time(recorded.created_at.as_ref());
    let is_wanted = recorded.deleted_at.is_none() && !(is_over && is_recorded);
    let deleted_at = match &recorded.deleted_at {
        Some(at) => Some(at.0),
        None if is_wanted => None,
        None => deleted_at(namespace, now),
    };
    let resync = expires_at.filter(|_| is_wanted).map(|at| until(at, now).unwrap_or(RECORDING));
    let status = TempNamespaceStatus {
        phase: Some(phase(is_wanted, namespace)),
        created_at: created_at.map(Time),
        expires_at: expires_at.map(Time),
        deleted_at: deleted_at.map(Time),
        ..TempNamespaceStatus::default()
    };
    Life { is_wanted, status, resync }
}

/// The recorded fields, as the lifecycle depends on them, and the error.
pub(super) fn interrupted(recorded: TempNamespaceStatus, why: String) -> TempNamespaceStatus {
    let TempNamespaceStatus { phase, created_at, expires_at, deleted_at, .. } = recorded;
    let rest = TempNamespaceStatus::default();
    TempNamespaceStatus { error: Some(why), phase, created_at, expires_at, deleted_at, ..rest }
}

fn phase(is_wanted: bool, namespace: Option<&Namespace>) -> Phase {
    match (is_wanted, namespace) {
        (true, None) => Phase::Pending,
        (true, Some(namespace)) if namespace.metadata.deletion_timestamp.is_none() => Phase::Active,
        (_, Some(_)) => Phase::Deleting,
        (false, None) => Phase::Deleted,
    }
}

/// When the deletion began, by the server's time. The clock is used only for a namespace that was
/// deleted at once, and only once, as it is then recorded.
fn deleted_at(namespace: Option<&Namespace>, now: Timestamp) -> Option<Timestamp> {
    match namespace {
        Some(namespace) => time(namespace.metadata.deletion_timestamp.as_ref()),
        None => Some(now),
    }
}

fn created_at(namespace: Option<&Namespace>) -> Option<Timestamp> {
    time(namespace?.metadata.creation_timestamp.as_ref())
}

fn time(time: Option<&Time>) -> Option<Timestamp> {
    time.map(|time| time.0)
}

/// The time left; `None` when there is none.
fn until(at: Timestamp, now: Timestamp) -> Option<Duration> {
    Duration::try_from(at.duration_since(now)).ok().filter(|left| !left.is_zero())
}
