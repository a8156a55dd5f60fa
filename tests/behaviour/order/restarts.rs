//! A process that ends while a stage waits: the next one continues from what exists.

use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::*;

/// How long the test waits for a request.
const DEADLINE: Duration = Duration::from_mins(1);

#[operetta_harness::test]
async fn a_restart_continues_with_the_stage_that_waits_and_writes_nothing_again() {
    let world = World::that_logs_requests().await;
    let operators = start(&world).await;
    let stages: [&[Value]; 2] = [&[pod("d")], &[config_map("c", json!({}))]];
    world.apply(RECIPE, staged("r", &stages)).await;
    until_waiting(&world, "/d: it has not been scheduled yet").await;
    operators.stop().await;
    let before = writes(&world);
    let operators = start(&world).await;
    report(&world, "d", "True").await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
    let of_children = writes(&world).split_off(before.len());
    assert_eq!(of_children, ["patch configmaps"]);
}

/// The writes of children by our operators.
fn writes(world: &World) -> Vec<String> {
    let requests = world.our_requests().into_iter().filter(crate::cluster::Request::is_write);
    let of_children = requests.filter(|it| ["pods", "configmaps"].contains(&&*it.resource));
    of_children.map(|request| format!("{} {}", request.verb, request.resource)).collect()
}

/// After each write a process is killed: the write took effect, and no further request leaves it.
#[operetta_harness::test]
async fn a_process_that_is_killed_after_any_write_loses_no_stage_and_skips_none() {
    let world = World::new().await;
    let stages: [&[Value]; 3] = [&[pod("d")], &[pod("e")], &[config_map("c", json!({}))]];
    world.apply(RECIPE, staged("r", &stages)).await;
    for (resource, name, then_ready) in
        [("pods", "d", true), ("pods", "e", true), ("configmaps", "c", false)]
    {
        die_after(&world, resource, name).await;
        let not_yet = stages
            .iter()
            .flat_map(|stage| stage.iter())
            .skip_while(|child| child["metadata"]["name"] != name);
        for child in not_yet.skip(1) {
            let kind = if child["kind"] == "Pod" { POD } else { CONFIG_MAP };
            let name = child["metadata"]["name"].as_str().unwrap();
            assert!(world.get(kind, name).await.is_null(), "{name} is written too early");
        }
        if then_ready {
            report(&world, name, "True").await;
        }
    }
    let operators = start(&world).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

/// Starts a process, and kills it when it has written this child and not read the reply.
async fn die_after(world: &World, resource: &str, name: &str) {
    let plan = FaultPlan::new();
    let rule = Rule::new(Fault::HoldReply).verb("patch").resource(resource).name(name);
    let held = plan.add(rule.namespace(&world.namespace).times(1));
    let operators = start_over(world, world.cluster.connector_through(&plan)).await;
    let reached = tokio::time::timeout(DEADLINE, held.until_hits(1)).await;
    reached.unwrap_or_else(|_| panic!("{resource}/{name} was not written"));
    let kind = if resource == "pods" { POD } else { CONFIG_MAP };
    world.until(kind, name, "that it is written", Value::is_object).await;
    let verbs = ["get", "list", "patch", "delete", "create"];
    for verb in verbs {
        plan.add(Rule::new(Fault::refuse(503)).verb(verb));
    }
    held.end();
    operators.stop().await;
}
