//! Invalid input is refused by the server, or reported on the one parent that it concerns.

use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    reported::{assert_no_event_of_undeclared, until_undeclared},
    world::{CONFIG_MAP, ECHO, Operators, World},
};

async fn cooking(world: World) -> (World, Operators) {
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    (world, operators)
}

#[operetta_harness::test(server)]
async fn a_malformed_echo_server_is_rejected_with_the_path_of_the_field() {
    let world = World::new().await;
    for (spec, path) in [
        (json!({"serviceName": 7}), "spec.serviceName"),
        (json!({}), "spec.serviceName"),
        (json!({"serviceName": "Not A Label"}), "spec.serviceName"),
    ] {
        let error = world.try_create(ECHO, json!({"metadata": {"name": "a"}, "spec": spec})).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(path), "{error}");
    }
}

#[operetta_harness::test(server)]
async fn a_crd_without_the_status_subresource_is_reported_once_and_causes_no_repeated_writes() {
    let world = World::that_logs_requests().await;
    // Before the operators start: they read the schema of the type at their start, and keep it.
    world.install_recipes_without_status().await;
    let (world, operators) = cooking(world).await;
    for name in ["r", "s"] {
        let mut parent = recipe(name, &[config_map(&format!("of-{name}"), json!({}))]);
        parent["spec"]["status"] = json!({"taste": "fine"});
        world.apply(RECIPE, parent).await;
        world.until(CONFIG_MAP, &format!("of-{name}"), "the child", Value::is_object).await;
    }
    until_undeclared(&operators, "cook", (".status", "handler")).await;
    assert_rests(&world, &operators).await;
    operators.stop().await;
    assert_no_event_of_undeclared(&world).await;
}

/// Asserts that another reconcile writes nothing, so that the status does not differ for ever.
async fn assert_rests(world: &World, operators: &Operators) {
    for name in ["r", "s"] {
        operators.until_synced("cook", &world.namespace, name).await;
    }
    operators.settled().await;
    let before = world.our_requests().await.len();
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    world.patch(RECIPE, "r", json!({"metadata": {"annotations": {"look": "again"}}})).await;
    operators.settled().await;
    assert!(operators.reconciles("cook", &world.namespace, "r") > reconciles);
    let mut writes = world.our_requests().await.split_off(before);
    writes.retain(Request::is_write);
    assert_eq!(writes, [], "no write for what cannot be written");
}
