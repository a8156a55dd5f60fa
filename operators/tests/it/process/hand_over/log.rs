//! What the audit log says about hand-overs: who wrote after another process had taken the Lease, and how soon the new
//! leader wrote.

use k8s_openapi::jiff::Timestamp;
use operetta_controlplane::AuditEvent;

use super::LEASE;

/// The writes of the two processes that were received after the answer to the other one, which took the Lease, and
/// before their own process took it again.
pub(super) fn late_writes(events: &[AuditEvent]) -> Vec<AuditEvent> {
    let taken = taken(events);
    let holder_at = |time: &str| {
        let before = taken.partition_point(|event| event.reached.as_str() < time);
        before.checked_sub(1).map(|at| taken[at].user.as_str())
    };
    let is_late = |event: &&AuditEvent| {
        event.resource != "leases" && holder_at(&event.received) != Some(event.user.as_str())
    };
    writes(events).filter(is_late).cloned().collect()
}

/// After how many milliseconds each new leader sent its first write, unless another mishap came before that.
pub(super) fn first_writes(events: &[AuditEvent]) -> Vec<f64> {
    let mut leaders = taken(events);
    leaders.dedup_by(|next, lease| next.user == lease.user);
    let ends = leaders.iter().skip(1).map(|next| Some(*next)).chain([None]);
    let first = |(lease, next): (&AuditEvent, Option<&AuditEvent>)| {
        let is_of_leader = |event: &&AuditEvent| {
            event.user == lease.user
                && event.resource != "leases"
                && event.received > lease.reached
                && next.is_none_or(|next| event.received < next.reached)
        };
        let first = writes(events).filter(is_of_leader).map(|event| &*event.received).min()?;
        Some(at(first).duration_since(at(&lease.reached)).as_secs_f64() * 1000.0)
    };
    leaders.iter().copied().zip(ends).filter_map(first).collect()
}

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

/// The successful writes of the Lease, in their order.
fn taken(events: &[AuditEvent]) -> Vec<&AuditEvent> {
    // The path of a creation has no name.
    let is_lease = |event: &&AuditEvent| {
        event.resource == "leases" && (event.name == LEASE || event.verb == "create")
    };
    let was_accepted = |event: &&AuditEvent| event.stage == "ResponseComplete" && event.code < 300;
    let mut taken: Vec<_> = writes(events).filter(is_lease).filter(was_accepted).collect();
    taken.sort_by(|a, b| a.reached.cmp(&b.reached));
    assert!(!taken.is_empty(), "the audit log has no write of the Lease");
    taken
}

/// The writes of both processes, without dry runs.
fn writes(events: &[AuditEvent]) -> impl Iterator<Item = &AuditEvent> {
    let of_processes = |event: &&AuditEvent| ["first", "second"].contains(&event.user.as_str());
    let writes = |event: &&AuditEvent| event.is_write() && !event.uri.contains("dryRun=All");
    events.iter().filter(of_processes).filter(writes)
}
