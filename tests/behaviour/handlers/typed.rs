//! Handlers with Rust types for the parent, the status and the children.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use operetta::{operator::IntoHandler, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE},
    world::{CONFIG_MAP, World, condition},
};

/// A recipe whose dish is a `ConfigMap`.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.operetta.dev", version = "v1", kind = "Recipe", namespaced)]
struct RecipeSpec {
    portions: u32,
}

#[derive(Serialize)]
struct Taste {
    taste: String,
}

/// What the handler reads of its child.
#[derive(Deserialize)]
struct Dish {
    data: Salted,
}

#[derive(Deserialize)]
struct Salted {
    salt: u8,
}

fn dish(request: &SyncRequest<Recipe>) -> ConfigMap {
    let portions = request.parent.spec.portions.to_string();
    let data = Some([("portions".to_owned(), portions)].into());
    let mut dish = ConfigMap { data, ..ConfigMap::default() };
    dish.metadata.name.clone_from(&request.parent.metadata.name);
    dish
}

fn sync(request: &SyncRequest<Recipe>) -> Result<SyncResponse<Taste>> {
    let cooked = request.child::<ConfigMap>(request.object().name())?;
    let portions = cooked.and_then(|dish| dish.data.as_ref()?.get("portions").cloned());
    let taste = format!("{} cooked", portions.unwrap_or_default());
    Ok(SyncResponse::status(Taste { taste }).child(dish(request)))
}

async fn sync_async(request: SyncRequest<Recipe>) -> Result<SyncResponse<Taste>> {
    tokio::task::yield_now().await;
    sync(&request)
}

fn portions(portions: Value) -> Value {
    json!({"metadata": {"name": "r"}, "spec": {"portions": portions}})
}

#[operetta_harness::test]
async fn a_parent_that_does_not_fit_rests_with_its_json_path_until_it_is_corrected() {
    for handler in [sync.into_handler(), sync_async.into_handler()] {
        let world = World::new().await;
        let config = recipe::config("cook");
        let operators = world.start(|builder| builder.register(config, handler)).await;
        world.apply(RECIPE, portions(json!(2))).await;
        let is_cooked = |parent: &Value| parent["status"]["taste"] == "2 cooked";
        world.until(RECIPE, "r", "the typed status", is_cooked).await;
        let child = world.get(CONFIG_MAP, "r").await;
        world.apply(RECIPE, portions(json!("many"))).await;
        let is_stalled = |parent: &Value| condition(parent, "Stalled")["status"] == "True";
        let parent = world.until(RECIPE, "r", "no more retries", is_stalled).await;
        let ready = condition(&parent, "Ready");
        assert_eq!(ready["reason"], "HandlerFailed");
        let place = format!("Recipe.test.operetta.dev/v1 {}/r does not fit", world.namespace);
        let message = ready["message"].as_str().unwrap();
        assert!(message.contains(&place) && message.contains("`spec.portions`: "), "{message}");
        assert!(!message.contains("many"), "no value is quoted: {message}");
        assert_eq!(world.get(CONFIG_MAP, "r").await, child, "the child is not modified");
        world.apply(RECIPE, portions(json!(3))).await;
        let is_cooked = |parent: &Value| parent["status"]["taste"] == "3 cooked";
        world.until(RECIPE, "r", "the corrected parent", is_cooked).await;
        world.until_ready(RECIPE, "r").await;
        operators.stop().await;
    }
}

#[operetta_harness::test]
async fn a_child_that_does_not_fit_names_itself_and_its_json_path() {
    let world = World::new().await;
    let taste = |request: &SyncRequest<Recipe>| -> Result<SyncResponse<Taste>> {
        let dishes = request.children.of_type(("v1", "ConfigMap")).as_type::<Dish>();
        let salt = dishes.first()?.map_or(0, |dish| dish.data.salt);
        let taste = format!("{salt} grains");
        Ok(SyncResponse::status(Taste { taste }).child(dish(request)))
    };
    let config = recipe::config("cook");
    let operators = world.start(|builder| builder.register(config, taste)).await;
    world.apply(RECIPE, portions(json!(2))).await;
    let place = format!("ConfigMap.v1 {}/r does not fit the Rust type: `data`: ", world.namespace);
    let is_reported = |parent: &Value| {
        let message = condition(parent, "Ready")["message"].clone();
        message.as_str().is_some_and(|message| message.contains(&place))
    };
    world.until(RECIPE, "r", "the child that does not fit", is_reported).await;
    operators.stop().await;
}
