//! Nobody is told that all is well before every list was served.

use super::*;

async fn is_not_ready_before_it_has_listed(lists: Lists) {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let list = Rule::new(Fault::HoldRequest).verb(lists.verb()).resource("configmaps");
    let held = plan.add(list);
    let connector = world.cluster.connector_through(&plan);
    let operators = world.launch_over(connector, |builder| lists.set_up(cook(builder))).await;
    until_hits(&held, 1).await;
    // All else is served.
    let others = ["recipes.test.operetta.dev", "secrets", "services", "pods"];
    let waits = |(code, body): &(u16, String)| {
        let says = "[-]type/configmaps not synced: the first list is not complete yet";
        let is_well = |ty: &&str| body.contains(&format!("[+]type/{ty} ok"));
        *code == 503 && body.contains(says) && others.iter().all(is_well)
    };
    for path in ["/readyz?verbose", "/readyz/cook?verbose"] {
        eventually(path, || operators.http(path), waits).await;
    }
    assert_eq!(operators.http("/livez").await.0, 200, "it lives all the same");
    held.end();
    tokio::time::timeout(DEADLINE, operators.running().ready()).await.expect("ready in time");
    for path in ["/readyz", "/readyz/cook"] {
        assert_eq!(operators.http(path).await.0, 200, "{path}");
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_operator_is_not_ready_before_each_of_its_lists_was_served() {
    for lists in Lists::BOTH {
        is_not_ready_before_it_has_listed(lists).await;
    }
}
