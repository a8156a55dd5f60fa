//! What stands between the processes and their server: a network that is cut, and a server that selects shards or does not.

use std::sync::OnceLock;

use operetta_apiserver::Server;
use operetta_harness::Folder;
use serde_json::Value;

use super::{
    PARENTS, cached, count, create_parents, made, parents, process, process_over, shards,
    until_all_ready, until_shared, written,
};
use crate::{
    cluster::Cluster,
    link::Link,
    world::{Operators, World, eventually},
};

#[operetta_harness::test(server)]
async fn the_parents_of_a_process_that_is_cut_off_go_to_another_and_come_back() {
    let world = World::new().await;
    let link = Link::to(&world.cluster).await;
    let (first, second) = futures::future::join(
        process_over(&world, "first", link.connector()),
        process(&world, "second"),
    )
    .await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    assert!(!parents(&first).await.is_empty());
    link.cut();
    create_parents(&world, "much").await;
    until_shared(&[&second]).await;
    let works = || async { count(shards(&first).await["works"].as_str().unwrap()) };
    eventually("no bucket of the one that is cut off", works, |count| *count == 0).await;
    until_all_ready(&world).await;
    let salted = |made: &Vec<Value>| made.iter().all(|it| it["data"]["salt"] == "much");
    assert!(salted(&made(&world).await));
    link.restore();
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    first.stop().await;
    second.stop().await;
}

/// The control plane has it behind a feature gate, with which the tests of the embedded server compare it.
#[operetta_harness::test]
async fn a_server_that_selects_shards_is_asked_for_them_and_one_that_does_not_makes_no_difference()
{
    for selects in [true, false] {
        let builder = Server::builder();
        let builder = if selects { builder.sharded_lists() } else { builder };
        let server = builder.start();
        let world = World::of(&server).await;
        let (first, second) =
            futures::future::join(process(&world, "first"), process(&world, "second")).await;
        until_shared(&[&first, &second]).await;
        create_parents(&world, "little").await;
        until_all_ready(&world).await;
        let mut works = 0;
        for process in [&first, &second] {
            let own = parents(process).await;
            let cached = cached(&world, process, "recipes.test.operetta.dev").await;
            assert_eq!(cached, own, "{selects}");
            works += own.len();
        }
        assert_eq!(works, PARENTS, "{selects}");
        let asked = asked_for_shards(&server);
        assert!(asked >= 2, "{selects}: {asked}");
        first.stop().await;
        second.stop().await;
    }
}

/// As when the cluster is upgraded, or an administrator changes his mind.
#[operetta_harness::test]
async fn a_server_that_selects_shards_since_its_last_start_or_not_any_more_changes_no_object() {
    let folder = Folder::new();
    let server = Server::builder().start_in(&folder).unwrap();
    let mut world = World::of(&server).await;
    let processes = both(&world).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    stop(processes).await;
    server.close().await;
    for selects in [true, false] {
        let builder = Server::builder();
        let builder = if selects { builder.sharded_lists() } else { builder };
        let server = builder.start_in(&folder).unwrap();
        world.cluster = Cluster::Embedded(server.clone(), OnceLock::new());
        world.client = world.cluster.client();
        let [first, second] = both(&world).await;
        for process in [&first, &second] {
            let said = shards(process).await["parentsSelectedByServer"].clone();
            assert_eq!(said, Value::from(selects));
            process.settled().await;
        }
        assert_eq!(parents(&first).await.len() + parents(&second).await.len(), PARENTS);
        assert_eq!(written(&world).await, [""; 0], "{selects}");
        stop([first, second]).await;
        server.close().await;
    }
}

async fn both(world: &World) -> [Operators; 2] {
    let (first, second) =
        futures::future::join(process(world, "first"), process(world, "second")).await;
    until_shared(&[&first, &second]).await;
    [first, second]
}

async fn stop([first, second]: [Operators; 2]) {
    first.stop().await;
    second.stop().await;
}

/// How many open watches of parents are of a shard.
fn asked_for_shards(server: &Server) -> usize {
    let watches = server.open_watches().into_iter();
    let of_parents = watches.filter(|watch| watch.resource.starts_with("recipes."));
    of_parents.filter(|watch| watch.query.contains("shardSelector=")).count()
}
