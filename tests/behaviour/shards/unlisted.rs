//! Types that cannot be listed while a process is to take buckets.

use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::{count, create_parents, process, process_over, shards, until_all_ready, until_shared};
use crate::{
    link::Link,
    world::{Operators, World, eventually},
};

/// More failures than a type without an earlier list has before its operators are degraded.
const FAILURES: usize = 6;

/// A handler would be called without the children of the parents, and would create them again.
#[operetta_harness::test]
async fn no_parent_of_another_process_is_taken_before_its_children_are_listed() {
    let world = World::new().await;
    let (link, plan) = (Link::to(&world.cluster).await, FaultPlan::new());
    let (first, second) = futures::future::join(
        process_over(&world, "first", link.connector()),
        process_over(&world, "second", world.cluster.connector_through(&plan)),
    )
    .await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    second.settled().await;
    let before = written(&plan);
    let broken = plan.add(Rule::new(Fault::refuse(500)).verb("list").resource("configmaps"));
    link.cut();
    eventually("no bucket of the first one", || works(&first), |count| *count == 0).await;
    broken.until_hits(FAILURES).await;
    assert_eq!(works(&second).await, 32, "it has the buckets whose children it knows");
    broken.end();
    until_shared(&[&second]).await;
    second.settled().await;
    assert_eq!(written(&plan), before, "all children were known");
    link.restore();
    until_shared(&[&first, &second]).await;
    first.stop().await;
    second.stop().await;
}

/// In how many buckets a process works.
async fn works(process: &Operators) -> usize {
    count(shards(process).await["works"].as_str().unwrap())
}

/// What a process wrote of parents and children.
fn written(plan: &FaultPlan) -> Vec<String> {
    let targets = plan.decisions().into_iter().map(|decision| decision.target);
    let written = targets.filter(|target| {
        let is_read = matches!(target.verb.as_str(), "get" | "list" | "watch");
        !is_read && ["configmaps", "recipes", "recipes/status"].contains(&&*target.resource)
    });
    written.map(|target| format!("{} {}", target.verb, target.path)).collect()
}

/// A type that does not exist any more has no objects: nobody waits for them.
#[operetta_harness::test(server)]
async fn parents_are_taken_although_a_type_is_not_served_any_more() {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let first = process(&world, "first").await;
    let second = process_over(&world, "second", world.cluster.connector_through(&plan)).await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    plan.add(Rule::new(Fault::refuse(404)).verb("list").resource("endpointslices"));
    first.stop().await;
    until_shared(&[&second]).await;
    plan.heal();
    second.stop().await;
}
