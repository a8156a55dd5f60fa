//! Operators are not ready before every list is complete.

use super::*;

async fn is_not_ready_before_it_has_listed(lists: Lists) {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let list = Rule::new(Fault::HoldRequest).verb(lists.verb()).resource("configmaps");
    let held = plan.add(list);
    let connector = world.cluster.connector_through(&plan);
    let operators = world.launch_over(connector, |builder| lists.set_up(cook(builder))).await;
    until_hits(&held, 1).await;
    // All other lists are served.
    let others = ["recipes.test.operetta.dev", "secrets", "services", "pods"];
    let waits = |(code, body): &(u16, String)| {
        let check = "[-]type/configmaps not synced: the first list is not complete yet";
        let is_synced = |ty: &&str| body.contains(&format!("[+]type/{ty} ok"));
        *code == 503 && body.contains(check) && others.iter().all(is_synced)
    };
    for path in ["/readyz?verbose", "/readyz/cook?verbose"] {
        eventually(path, || operators.http(path), waits).await;
    }
    assert_eq!(operators.http("/livez").await.0, 200, "it is alive");
    held.end();
    tokio::time::timeout(DEADLINE, operators.running().ready()).await.expect("ready in time");
    for path in ["/readyz", "/readyz/cook"] {
        assert_eq!(operators.http(path).await.0, 200, "{path}");
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_operator_is_not_ready_before_all_its_types_are_listed() {
    for lists in Lists::offered().await {
        is_not_ready_before_it_has_listed(lists).await;
    }
}
