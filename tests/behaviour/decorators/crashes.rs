//! The process is killed after each write in the life of a decorated parent: the next process brings it to the
//! same end.

use std::collections::BTreeMap;

use super::*;
use crate::killed::killed_at;

/// What an undisturbed decorator writes in each step.
const WRITES: [&[&str]; 3] = [
    &["patch configmaps", "patch deployments"],
    &["patch configmaps", "patch deployments"],
    &["delete configmaps", "delete configmaps", "patch deployments"],
];

/// The states of a life, each with what is asked for and whether it is reached.
async fn live(world: &World, step: usize) {
    match step {
        0 => drop(deployment(world, "d", Some(everything())).await),
        1 => {
            let wanted = json!({"labels": {LABEL: "green"}, "children": ["extra", "more"]});
            decorate(world, "d", wanted).await;
        }
        _ => decorate(world, "d", Value::Null).await,
    }
}

async fn until_reached(world: &World, step: usize) {
    match step {
        0 => drop(until_decorated(world, "d").await),
        1 => {
            let is_it = |it: &Value| {
                has_label("green")(it) && it["metadata"]["annotations"].get(NOTE).is_none()
            };
            world.until(DEPLOYMENT, "d", "the change", is_it).await;
            world.until(CONFIG_MAP, "more", "the second child", Value::is_object).await;
        }
        _ => {
            world.until(DEPLOYMENT, "d", "nothing left", is_bare).await;
            for name in ["extra", "more"] {
                world.until(CONFIG_MAP, name, "the child deleted", Value::is_null).await;
            }
        }
    }
}

/// Lives a step until it is reached and nothing is left to do.
async fn lived(world: &World, operators: &Operators, step: usize) {
    live(world, step).await;
    until_reached(world, step).await;
    operators.settled().await;
}

/// The writes of each step of an undisturbed life, sorted: children of one type are written at the same time.
async fn undisturbed() -> Vec<Vec<String>> {
    let world = World::that_logs_requests().await;
    let operators = start(&world).await;
    let (mut steps, mut seen) = (Vec::new(), 0);
    for step in 0..WRITES.len() {
        lived(&world, &operators, step).await;
        let all = writes(&world).await;
        let new = all[seen..].iter().map(|it| format!("{} {}", it.verb, it.resource));
        let mut new: Vec<_> = new.collect();
        new.sort_unstable();
        steps.push(new);
        seen = all.len();
    }
    operators.stop().await;
    steps
}

/// The process is killed at the n-th write of its kind in a step.
async fn crash(step: usize, write: (&str, &str, usize)) {
    let world = World::new().await;
    let operators = start(&world).await;
    for earlier in 0..step {
        lived(&world, &operators, earlier).await;
    }
    operators.stop().await;
    killed_at(&world, write, register(&world), async || live(&world, step).await).await;
    let operators = start(&world).await;
    until_reached(&world, step).await;
    for later in step + 1..WRITES.len() {
        lived(&world, &operators, later).await;
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_crash_after_any_write_of_a_decorator_does_not_change_the_result() {
    assert_eq!(undisturbed().await, WRITES);
    for (step, writes) in WRITES.iter().enumerate() {
        let mut counted = BTreeMap::new();
        for write in *writes {
            let (verb, resource) = write.split_once(' ').unwrap();
            let nth = counted.entry(write).and_modify(|count| *count += 1).or_insert(1);
            crash(step, (verb, resource, *nth)).await;
        }
    }
}
