//! Processes of a group that are not alike: one has an operator more, or may read less.

use k8s_openapi::api::core::v1::ServiceAccount;
use operetta::{operator::AnyOperator, prelude::*, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use super::{count, create_parents, process, sharding, shards, until_all_ready, until_shared};
use crate::{
    cluster::{Connector, connector_to},
    recipe,
    world::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ECHO, Operators, World, eventually, is_ready},
};

/// How many parents the second operator has.
const GUESTS: usize = 24;

/// A second operator, with a type of children that the first one has not.
fn waiter() -> AnyOperator {
    let parent = operators::echo_server::config().parent().clone();
    let config =
        OperatorConfig::new("waiter", parent).child::<ServiceAccount>(ChildConfig::apply());
    let sync = |request: &SyncRequest| -> Result<SyncResponse> {
        let metadata = json!({"name": request.parent.name()});
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
        Ok(SyncResponse::new().child(account))
    };
    AnyOperator::new(config, sync)
}

fn cook() -> AnyOperator {
    AnyOperator::new(recipe::config("cook"), recipe::handler())
}

/// A process with both operators.
async fn with_waiter(world: &World, identity: &str, connector: Connector) -> Operators {
    let sharding = sharding(world).as_identity(identity);
    let register = |builder: SupervisorBuilder| {
        builder.sharded(sharding).register_any(cook()).register_any(waiter())
    };
    world.start_over(connector, register).await
}

async fn create_guests(world: &World) {
    for number in 0..GUESTS {
        let metadata = json!({"name": format!("guest-{number}")});
        world.apply(ECHO, json!({"metadata": metadata, "spec": {"serviceName": "s"}})).await;
    }
}

/// How many guests are served.
async fn served(world: &World) -> usize {
    let guests = world.list(ECHO).await;
    guests.iter().filter(|guest| is_ready(guest)).count()
}

/// As in a rolling update: the Pods of a new version come one by one, and those of the old one go.
#[operetta_harness::test(server)]
async fn an_operator_that_only_newer_processes_have_works_for_all_when_the_older_ones_are_gone() {
    let world = World::new().await;
    let old = process(&world, "old").await;
    until_shared(&[&old]).await;
    create_parents(&world, "little").await;
    create_guests(&world).await;
    until_all_ready(&world).await;
    let new = with_waiter(&world, "new", world.cluster.connector()).await;
    until_shared(&[&old, &new]).await;
    let some = |count: &usize| *count > 0 && *count < GUESTS;
    eventually("the guests of one half", || served(&world), some).await;
    create_parents(&world, "much").await;
    until_all_ready(&world).await;
    old.stop().await;
    until_shared(&[&new]).await;
    eventually("all guests", || served(&world), |count| *count == GUESTS).await;
    create_parents(&world, "more").await;
    until_all_ready(&world).await;
    new.stop().await;
}

#[operetta_harness::test(server)]
async fn a_process_that_may_not_read_a_type_takes_its_buckets_and_says_what_it_lacks() {
    const USER: &str = "sharer";
    let (world, config) = World::that_enforces_rbac(USER).await;
    allow(&world, USER, |resource| resource != "serviceaccounts").await;
    let first = with_waiter(&world, "first", world.cluster.connector()).await;
    until_shared(&[&first]).await;
    let second = with_waiter(&world, "second", connector_to(config)).await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    let lacks =
        |(code, body): &(u16, String)| *code == 503 && body.contains("watch on serviceaccounts");
    eventually("the reason", || second.http("/readyz/waiter?verbose"), lacks).await;
    create_guests(&world).await;
    let some = |count: &usize| *count > 0 && *count < GUESTS;
    eventually("the guests of the first", || served(&world), some).await;
    allow(&world, USER, |_| true).await;
    eventually("all guests", || served(&world), |count| *count == GUESTS).await;
    assert_eq!(count(shards(&second).await["works"].as_str().unwrap()), 32);
    second.stop().await;
    first.stop().await;
}

/// Gives a user the generated permissions of both operators on these resources, and all on Leases.
async fn allow(world: &World, user: &str, is_allowed: fn(&str) -> bool) {
    let generated = operetta::cli::permissions(&[cook(), waiter()]).unwrap().rules();
    let mut rules: Vec<Value> =
        generated.iter().map(|rule| serde_json::to_value(rule).unwrap()).collect();
    for rule in &mut rules {
        let resources = rule["resources"].as_array_mut();
        resources.unwrap().retain(|resource| is_allowed(resource.as_str().unwrap()));
    }
    rules.retain(|rule| !rule["resources"].as_array().unwrap().is_empty());
    let groups = ["coordination.k8s.io"];
    rules.push(json!({"apiGroups": groups, "resources": ["leases"], "verbs": ["*"]}));
    let name = format!("{}-{user}", world.namespace);
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": name}, "rules": rules})).await;
    let rbac = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": rbac, "kind": "User", "name": user}],
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
}
