//! Who wrote after another process had taken the Lease.

use operetta_controlplane::AuditEvent;

use super::LEASE;

/// The writes of the two processes that were received after the answer to the other one, which took the Lease, and
/// before their own process took it again.
pub(super) fn late_writes(events: &[AuditEvent]) -> Vec<AuditEvent> {
    let of_processes = |event: &&AuditEvent| ["first", "second"].contains(&event.user.as_str());
    let is_lease = |event: &AuditEvent| event.resource == "leases" && event.name == LEASE;
    let writes_something =
        |event: &&AuditEvent| event.is_write() && !event.uri.contains("dryRun=All");
    let writes = || events.iter().filter(of_processes).filter(writes_something);
    // A creation has no name in its path.
    let mut taken: Vec<&AuditEvent> = writes()
        .filter(|event| is_lease(event) || (event.resource == "leases" && event.verb == "create"))
        .filter(|event| event.stage == "ResponseComplete" && event.code < 300)
        .collect();
    taken.sort_by(|a, b| a.reached.cmp(&b.reached));
    assert!(!taken.is_empty(), "the audit log has no write of the Lease");
    let holder_at = |time: &str| {
        let before = taken.partition_point(|event| event.reached.as_str() < time);
        before.checked_sub(1).map(|at| taken[at].user.as_str())
    };
    let is_late = |event: &&AuditEvent| {
        event.resource != "leases" && holder_at(&event.received) != Some(event.user.as_str())
    };
    writes().filter(is_late).cloned().collect()
}
