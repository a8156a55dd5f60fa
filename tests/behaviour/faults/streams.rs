//! Every answer that refuses, to a list and to a watch: a child that went meanwhile comes back.

use super::{
    watches::{until_back, with_child},
    *,
};

fn refusals() -> Vec<Fault> {
    let mut faults: Vec<_> = [401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504]
        .into_iter()
        .map(Fault::refuse)
        .collect();
    faults.extend([Fault::busy(1), Fault::CutReply, Fault::GarbleReply, Fault::LoseReply]);
    faults
}

/// The watch ends as the child goes, and what begins it anew is refused twice.
async fn refuse(verb: &str, fault: Fault, end: Fault) {
    let what = format!("{verb} {fault:?}");
    let Some((faults, child)) = with_child().await else { return };
    // Not in this test's namespace: they are over all.
    let refused = faults.plan.add(Rule::new(fault).verb(verb).resource("configmaps").times(2));
    faults.add(Rule::new(end).verb("watch").resource("configmaps").name("c").times(1));
    faults.world.delete(CONFIG_MAP, "c").await;
    until_hits(&refused, 2).await;
    until_back(&faults, &child).await;
    assert_eq!(faults.writes("configmaps", "c"), 2, "{what}: created twice, as it went once");
    let (_, metrics) = faults.operators.http("/metrics").await;
    let counted = "operetta_watch_restarts_total{reason=\"error\",type=\"configmaps\"} 2";
    assert!(metrics.contains(counted), "{what}: {metrics}");
    faults.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_a_list_is_survived() {
    for fault in refusals() {
        refuse("list", fault, Fault::ExpireWatch).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_a_watch_is_survived() {
    // A stream that is cut, or holds garbage, has tests of its own.
    for fault in refusals().into_iter().take(12) {
        refuse("watch", fault, Fault::CloseWatch).await;
    }
}
