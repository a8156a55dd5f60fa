//! A missing type degrades the operator that needs it, and no other.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CRD, ECHO, World, eventually},
};

#[operetta_harness::test(server)]
async fn a_missing_crd_degrades_one_operator_until_it_appears() {
    let world = World::new().await;
    world.delete(CRD, "recipes.test.operetta.dev").await;
    world.until(CRD, "recipes.test.operetta.dev", "no such CRD", Value::is_null).await;
    let operators = world
        .start(|builder| {
            let builder = operators::register_all(builder, operators::all());
            builder.register(recipe::config("cook"), recipe::handler())
        })
        .await;
    let (code, body) = operators.http("/readyz").await;
    assert_eq!(code, 200, "a stated reason is enough for the process: {body}");
    let (code, body) = operators.http("/readyz/cook?verbose").await;
    assert_eq!(code, 503);
    assert!(body.contains("recipes.test.operetta.dev") && body.contains("CRD"), "{body}");
    assert_eq!(operators.http("/readyz/echo-server").await.0, 200);
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    world.until_synced(ECHO, "a").await;
    world.install_recipes().await;
    eventually("the operator healed", || operators.http("/readyz/cook"), |(code, _)| *code == 200)
        .await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}
