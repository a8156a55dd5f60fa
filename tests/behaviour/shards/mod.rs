//! Processes with the same operators share the parents.

mod alike;
mod all;
pub(crate) mod chaos;
mod elsewhere;
mod hand_over;
mod labels;
mod leases;
mod reach;
mod unlisted;

use std::time::Duration;

use operetta::{election::Sharding, supervisor::SupervisorBuilder};
use serde_json::Value;

use crate::{
    cluster::Connector,
    recipe::{self, RECIPE, config_map, recipe},
    started::http,
    world::{CONFIG_MAP, Operators, World, eventually},
};

/// So many that each process has some.
const PARENTS: usize = 24;

/// A process of a group, which answers to this name.
async fn process(world: &World, identity: &str) -> Operators {
    process_over(world, identity, world.cluster.connector()).await
}

/// The same with a connection of the test's choice.
async fn process_over(world: &World, identity: &str, connector: Connector) -> Operators {
    process_of(world, sharding(world).as_identity(identity), connector).await
}

/// The same with these settings of its group.
async fn process_of(world: &World, sharding: Sharding, connector: Connector) -> Operators {
    let register = |builder: SupervisorBuilder| {
        builder.sharded(sharding).register(recipe::config("cook"), recipe::handler())
    };
    world.start_over(connector, register).await
}

/// With shorter times than the defaults, so that a test does not wait for long.
fn sharding(world: &World) -> Sharding {
    Sharding::new("cooks")
        .in_namespace(&world.namespace)
        .with_lease_duration(Duration::from_secs(4))
        .with_renew_deadline(Duration::from_secs(3))
        .with_retry_period(Duration::from_millis(500))
}

/// Creates the parents, with a child each.
async fn create_parents(world: &World, salt: &str) {
    for number in 0..PARENTS {
        let child = config_map(&format!("made-{number}"), serde_json::json!({"salt": salt}));
        world.apply(RECIPE, recipe(&format!("r-{number}"), &[child])).await;
    }
}

/// Waits until each parent is ready and has its child.
async fn until_all_ready(world: &World) {
    for number in 0..PARENTS {
        world.until_ready(RECIPE, &format!("r-{number}")).await;
    }
    assert_eq!(made(world).await.len(), PARENTS);
}

/// The children.
async fn made(world: &World) -> Vec<Value> {
    let all = world.list(CONFIG_MAP).await;
    let is_made = |it: &Value| it["metadata"]["name"].as_str().unwrap().starts_with("made-");
    all.into_iter().filter(is_made).collect()
}

/// Everything that was written but Leases.
async fn written(world: &World) -> Vec<String> {
    let requests = world.our_requests().await.into_iter();
    let written = requests.filter(|request| {
        !matches!(request.verb.as_str(), "get" | "list" | "watch") && request.resource != "leases"
    });
    written.map(|request| format!("{} {}", request.verb, request.uri)).collect()
}

/// What a process says of its group.
async fn shards(process: &Operators) -> Value {
    let (code, body) = process.http("/api/v1/shards").await;
    assert_eq!(code, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

/// The names of the parents that a process works for.
async fn parents(process: &Operators) -> Vec<String> {
    let (_, body) = alone(process, "GET /api/v1/operators/cook/parents").await;
    sorted(names(&serde_json::from_str(&body).unwrap()).into_iter())
}

/// What a process answers for itself alone.
async fn alone(process: &Operators, line: &str) -> (u16, String) {
    let address = process.running().web().unwrap();
    let (code, answer) = http(address, line, "Operetta-Sent-On: 1\r\n").await;
    (code, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// The names of the parents in a list, in its order.
fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

/// The names of the objects of a type that a process caches. Other tests may have left some in their namespaces.
async fn cached(world: &World, process: &Operators, ty: &str) -> Vec<String> {
    let (_, body) =
        process.http(&format!("/api/v1/cache/{ty}?namespace={}", world.namespace)).await;
    let list: Value = serde_json::from_str(&body).unwrap();
    let items = list["items"].as_array().unwrap().iter();
    sorted(items.map(|it| it["name"].as_str().unwrap().to_owned()))
}

/// Waits until the processes have all buckets, each its share.
async fn until_shared(processes: &[&Operators]) {
    let share = 64_usize.div_ceil(processes.len());
    let counts = || async {
        let mut counts = Vec::new();
        for process in processes {
            let shards = shards(process).await;
            counts.push(count(shards["works"].as_str().unwrap()));
        }
        counts
    };
    let are_shared = |counts: &Vec<usize>| {
        counts.iter().sum::<usize>() == 64 && counts.iter().all(|it| *it <= share)
    };
    eventually("all buckets in equal shares", counts, are_shared).await;
}

/// How many buckets ranges such as `0-20,42` are.
fn count(ranges: &str) -> usize {
    let number = |text: &str| text.parse::<usize>().unwrap();
    let count = |range: &str| match range.split_once('-') {
        Some((first, last)) => number(last) - number(first) + 1,
        None => 1,
    };
    ranges.split(',').filter(|range| !range.is_empty()).map(count).sum()
}

#[operetta_harness::test(server)]
async fn each_process_works_for_its_parents_and_caches_no_others() {
    let world = World::new().await;
    let (first, second) =
        futures::future::join(process(&world, "first"), process(&world, "second")).await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    let (mut all, others) = (parents(&first).await, parents(&second).await);
    assert!(!all.is_empty() && !others.is_empty(), "each has some: {all:?}, {others:?}");
    all.extend(others);
    assert_eq!(all.len(), PARENTS, "nobody works for the same one: {all:?}");
    for process in [&first, &second] {
        let own = parents(process).await;
        let made = sorted(own.iter().map(|name| name.replace("r-", "made-")));
        for (ty, own) in [("recipes.test.operetta.dev", own), ("configmaps", made)] {
            // What was given up is cached for some seconds more.
            let what = format!("the {ty} of its parents and no others: {own:?}");
            eventually(&what, || cached(&world, process, ty), |cached| *cached == own).await;
        }
    }
    first.stop().await;
    second.stop().await;
}
