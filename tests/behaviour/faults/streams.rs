//! Every answer that refuses, to a list and to a watch: a child that went meanwhile comes back.

use super::{
    watches::{until_back, with_child_after},
    *,
};

/// The place of 422.
const INVALID: usize = 5;

/// A stream that is cut, or holds garbage, has tests of its own.
const OF_WATCHES: usize = 12;

fn refusals() -> Vec<Fault> {
    let mut faults: Vec<_> = [401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504]
        .into_iter()
        .map(Fault::refuse)
        .collect();
    faults.extend([Fault::busy(1), Fault::CutReply, Fault::GarbleReply, Fault::LoseReply]);
    faults
}

/// The watch ends as the child goes, and what begins it anew is refused for as long as nobody has seen
/// that this is said.
async fn refuse(lists: Lists, verb: &str, fault: Fault, end: Fault) {
    let what = format!("{verb} {fault:?}");
    let set_up = |builder| lists.set_up(builder);
    let (faults, child) = with_child_after(FaultPlan::new(), set_up).await;
    // Not in this test's namespace: they are over all.
    let refused = faults.plan.add(Rule::new(fault).verb(verb).resource("configmaps"));
    faults.add(Rule::new(end).verb("watch").resource("configmaps").name("c").times(1));
    faults.world.delete(CONFIG_MAP, "c").await;
    until_hits(&refused, 2).await;
    for path in ["/readyz?verbose", "/readyz/cook?verbose"] {
        let is_said = |(_, body): &(u16, String)| body.contains("[-]type/configmaps failed: ");
        eventually(&what, || faults.operators.http(path), is_said).await;
    }
    refused.end();
    until_back(&faults, &child).await;
    assert_eq!(faults.writes("configmaps", "c"), 2, "{what}: created twice, as it went once");
    let (_, metrics) = faults.operators.http("/metrics").await;
    let series = "operetta_watch_restarts_total{reason=\"error\",type=\"configmaps\"} ";
    let counted = metrics.lines().find_map(|line| line.strip_prefix(series));
    assert_eq!(counted, Some(&*refused.hits().to_string()), "{what}");
    faults.end().await;
}

#[operetta_harness::test]
async fn every_answer_to_a_list_is_survived() {
    for fault in refusals() {
        refuse(Lists::Paged, "list", fault, Fault::ExpireWatch).await;
    }
}

#[operetta_harness::test]
async fn every_answer_to_a_list_that_is_streamed_is_survived() {
    for (number, fault) in refusals().into_iter().take(OF_WATCHES).enumerate() {
        // What knows no such lists says 422, and is asked for pages.
        if number != INVALID {
            refuse(Lists::Streamed, "watch", fault, Fault::ExpireWatch).await;
        }
    }
}

#[operetta_harness::test]
async fn every_answer_to_a_watch_is_survived() {
    for fault in refusals().into_iter().take(OF_WATCHES) {
        refuse(Lists::Paged, "watch", fault, Fault::CloseWatch).await;
    }
}
