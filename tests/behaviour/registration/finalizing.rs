//! An operator that is deregistered with `OnRemoval::Finalize` finalizes its parents first.

use std::time::Duration;

use anyhow::Error;
use operetta::{
    object::Object,
    supervisor::{OnRemoval, RegistrationError},
};

use super::*;

const FINALIZE: OnRemoval = OnRemoval::Finalize { within: Duration::from_mins(1) };

/// Finalizes unless the parent says otherwise.
struct Careful;

impl Handler for Careful {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        recipe::sync(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        let spec = request.parent.field("spec").unwrap_or_default();
        match spec["stays"].as_bool() {
            Some(true) => Err(Error::msg("the dish is still hot")),
            _ => Ok(FinalizeResponse::done()),
        }
    }
}

pub(super) async fn register_careful(operators: &Operators) {
    let registrar = operators.running().registrar();
    registrar.register(recipe::config("cook"), Careful).await.unwrap();
}

fn finalizers(parent: &Value) -> usize {
    parent["metadata"]["finalizers"].as_array().map_or(0, Vec::len)
}

#[operetta_harness::test]
async fn parents_are_finalized_and_their_children_stay() {
    let world = World::new().await;
    let operators = with_echo_server(&world).await;
    register_careful(&operators).await;
    for name in ["q", "r"] {
        cooked(&world, name).await;
        assert_eq!(finalizers(&world.get(RECIPE, name).await), 1);
    }
    operators.running().registrar().deregister("cook", FINALIZE).await.unwrap();
    for name in ["q", "r"] {
        assert_eq!(finalizers(&world.get(RECIPE, name).await), 0);
        assert_eq!(world.get(CONFIG_MAP, name).await["data"]["a"], "b");
    }
    assert!(!operators.http("/metrics").await.1.contains("cook"));
    operators.stop().await;
}

#[operetta_harness::test]
async fn parents_that_remain_are_named_and_can_be_left_or_finalized_later() {
    let world = World::new().await;
    let operators = with_echo_server(&world).await;
    register_careful(&operators).await;
    for name in ["hot", "r"] {
        cooked(&world, name).await;
    }
    let hot = json!({"spec": {"stays": true}});
    world.patch(RECIPE, "hot", hot).await;
    operators.running().settled().await;
    let registrar = operators.running().registrar();
    let short = OnRemoval::Finalize { within: Duration::from_secs(2) };
    let refused = registrar.deregister("cook", short).await.unwrap_err();
    let RegistrationError::NotFinalized { operator, parents } = &refused else {
        panic!("{refused}")
    };
    assert_eq!((operator.as_str(), parents.len()), ("cook", 1), "{refused}");
    assert!(parents[0].ends_with("/hot"), "{refused}");
    assert_eq!(finalizers(&world.get(RECIPE, "r").await), 0);
    world.patch(RECIPE, "hot", json!({"spec": {"stays": false}})).await;
    registrar.deregister("cook", FINALIZE).await.unwrap();
    assert_eq!(finalizers(&world.get(RECIPE, "hot").await), 0);
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_parents_of_an_operator_that_is_degraded_are_not_known() {
    let world = World::new().await;
    let operators = with_echo_server(&world).await;
    let ty = K8sType::namespaced("test.operetta.dev/v1", "Nothing", "nothings");
    let config = OperatorConfig::new("cook", ty);
    let registrar = operators.running().registrar();
    registrar.register(config, recipe::handler()).await.unwrap();
    let refused = registrar.deregister("cook", FINALIZE).await.unwrap_err();
    assert!(matches!(refused, RegistrationError::NotListed(_)), "{refused}");
    registrar.deregister("cook", OnRemoval::Leave).await.unwrap();
    assert!(!operators.http("/metrics").await.1.contains("nothings"));
    operators.stop().await;
}
