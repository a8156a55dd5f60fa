//! A process that dies at any request of a registration's life: the next one continues.

use std::time::Duration;

use operetta::supervisor::{OnRemoval, SupervisorBuilder};
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::{finalizing::register_careful, *};
use crate::world::eventually;

const FINALIZE: OnRemoval = OnRemoval::Finalize { within: Duration::from_mins(1) };

/// From the registration to the removal, with one parent that exists before.
async fn life(world: &World, operators: &Operators, name: &str) {
    register_careful(operators).await;
    operators.until_synced("cook", &world.namespace, name).await;
    operators.running().registrar().deregister("cook", FINALIZE).await.unwrap();
}

fn refuse_all(plan: &FaultPlan) {
    for verb in ["get", "list", "watch", "patch", "delete", "create"] {
        plan.add(Rule::new(Fault::refuse(503)).verb(verb));
    }
}

#[operetta_harness::test]
async fn a_crash_at_each_request_of_a_registration_loses_nothing() {
    let world = World::new().await;
    for nth in 1.. {
        let (plan, name) = (FaultPlan::new(), format!("r{nth}"));
        world.apply(RECIPE, recipe(&name, &[config_map(&name, json!({"a": "b"}))])).await;
        let held = plan.add(Rule::new(Fault::HoldReply).from_nth(nth).times(1));
        let through = world.cluster.connector_through(&plan);
        let operators = world.start_over(through, SupervisorBuilder::expect_registrations).await;
        let is_over = tokio::select! {
            () = life(&world, &operators, &name) => true,
            () = held.until_hits(1) => false,
        };
        refuse_all(&plan);
        held.end();
        operators.stop().await;
        let operators = world.start(SupervisorBuilder::expect_registrations).await;
        life(&world, &operators, &name).await;
        let parent = world.get(RECIPE, &name).await;
        assert!(parent["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty), "{nth}");
        assert_eq!(world.get(CONFIG_MAP, &name).await["data"]["a"], "b", "{nth}");
        operators.stop().await;
        world.delete(RECIPE, &name).await;
        world.until(RECIPE, &name, "its deletion", Value::is_null).await;
        if is_over {
            assert!(nth > 10, "a life has more requests");
            break;
        }
    }
}

#[operetta_harness::test]
async fn operators_can_be_registered_and_removed_during_an_outage() {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let through = world.cluster.connector_through(&plan);
    let (config, handler) = echo_server();
    let operators = world.start_over(through, |builder| builder.register(config, handler)).await;
    refuse_all(&plan);
    register_cook(&operators).await;
    let ready = || operators.http("/readyz/cook");
    eventually("the operator is not ready", ready, |(code, _)| *code == 503).await;
    let registrar = operators.running().registrar();
    registrar.deregister("echo-server", OnRemoval::Leave).await.unwrap();
    plan.heal();
    cooked(&world, "r").await;
    assert!(!operators.http("/metrics").await.1.contains("echo"));
    operators.stop().await;
}
