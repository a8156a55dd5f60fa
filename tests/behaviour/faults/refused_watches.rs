//! Every refusal of a list or a watch: a child that was deleted meanwhile is created again.

use super::{
    watches::{until_back, with_child_after},
    *,
};

/// The index of 422.
const INVALID: usize = 5;

/// Cut and malformed streams have their own tests.
const OF_WATCHES: usize = 12;

fn refusals() -> Vec<Fault> {
    let mut faults: Vec<_> = [401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504]
        .into_iter()
        .map(Fault::refuse)
        .collect();
    faults.extend([Fault::busy(1), Fault::CutReply, Fault::GarbleReply, Fault::LoseReply]);
    faults
}

/// Ends the watch at the deletion of the child and refuses to restart it until that is reported.
async fn refuse(lists: Lists, verb: &str, fault: Fault, end: Fault) {
    let what = format!("{verb} {fault:?}");
    let set_up = |builder| lists.set_up(builder);
    let (faults, child) = with_child_after(FaultPlan::new(), set_up).await;
    // The watches are of all namespaces.
    let refused = faults.plan.add(Rule::new(fault).verb(verb).resource("configmaps"));
    faults.add(Rule::new(end).verb("watch").resource("configmaps").name("c").times(1));
    faults.world.delete(CONFIG_MAP, "c").await;
    until_hits(&refused, 2).await;
    for path in ["/readyz?verbose", "/readyz/cook?verbose"] {
        let is_reported = |(_, body): &(u16, String)| body.contains("[-]type/configmaps failed: ");
        eventually(&what, || faults.operators.http(path), is_reported).await;
    }
    refused.end();
    until_back(&faults, &child).await;
    assert_eq!(
        faults.writes("configmaps", "c"),
        2,
        "{what}: created twice, as it was deleted once"
    );
    let (_, metrics) = faults.operators.http("/metrics").await;
    let series = "operetta_watch_restarts_total{reason=\"error\",type=\"configmaps\"} ";
    let counted = metrics.lines().find_map(|line| line.strip_prefix(series));
    assert_eq!(counted, Some(&*refused.hits().to_string()), "{what}");
    faults.end().await;
}

#[operetta_harness::test]
async fn every_refusal_of_a_list_is_retried() {
    for fault in refusals() {
        refuse(Lists::Paged, "list", fault, Fault::ExpireWatch).await;
    }
}

#[operetta_harness::test]
async fn every_refusal_of_a_streamed_list_is_retried() {
    for (number, fault) in refusals().into_iter().take(OF_WATCHES).enumerate() {
        // A server without streamed lists answers 422, after which pages are read.
        if number != INVALID {
            refuse(Lists::Streamed, "watch", fault, Fault::ExpireWatch).await;
        }
    }
}

#[operetta_harness::test]
async fn every_refusal_of_a_watch_is_retried() {
    for fault in refusals().into_iter().take(OF_WATCHES) {
        refuse(Lists::Paged, "watch", fault, Fault::CloseWatch).await;
    }
}
