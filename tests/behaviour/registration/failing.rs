//! A registration may fail: the operator is degraded and heals, as at a start.

use operetta::supervisor::OnRemoval;

use super::*;
use crate::world::{CRD, eventually};

#[operetta_harness::test]
async fn an_operator_whose_type_is_missing_is_degraded_until_the_type_appears() {
    let world = World::new().await;
    world.delete(CRD, "recipes.test.operetta.dev").await;
    world.until(CRD, "recipes.test.operetta.dev", "no such CRD", Value::is_null).await;
    let operators = with_echo_server(&world).await;
    register_cook(&operators).await;
    let ready = || operators.http("/readyz/cook?verbose");
    let is_degraded =
        |(code, body): &(u16, String)| *code == 503 && body.contains("install its CRD");
    eventually("the operator degraded", ready, is_degraded).await;
    assert_eq!(operators.http("/readyz/echo-server").await.0, 200);
    world.install_recipes().await;
    cooked(&world, "r").await;
    eventually("the operator healed", ready, |(code, _)| *code == 200).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_degraded_operator_can_be_deregistered() {
    let world = World::new().await;
    world.delete(CRD, "recipes.test.operetta.dev").await;
    world.until(CRD, "recipes.test.operetta.dev", "no such CRD", Value::is_null).await;
    let operators = with_echo_server(&world).await;
    register_cook(&operators).await;
    let ready = || operators.http("/readyz/cook");
    eventually("the operator degraded", ready, |(code, _)| *code == 503).await;
    operators.running().registrar().deregister("cook", OnRemoval::Leave).await.unwrap();
    assert!(!operators.http("/metrics").await.1.contains("recipes"));
    operators.stop().await;
}
