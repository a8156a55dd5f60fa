//! Children with options of their own instead of those of their type.

use operetta::{
    operator::{DesiredChild, UpdateStrategy},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::{CONFIG_MAP, World},
};

/// Returns `spec.children`, which may have options.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let children: Vec<DesiredChild> = serde_json::from_value(spec["children"].clone())?;
    Ok(children.into_iter().fold(SyncResponse::status(json!({})), |response, child| {
        match child.config {
            Some(config) => response.child_with(config, child.object),
            None => response.child(child.object),
        }
    }))
}

fn with(config: ChildConfig, child: &Value) -> Value {
    json!({"object": child, "config": config})
}

#[operetta_harness::test]
async fn a_child_is_treated_by_its_own_options_and_others_by_those_of_their_type() {
    let world = World::new().await;
    let config = recipe::config_on_delete("cook");
    let operators = world.start(|builder| builder.register(config, sync)).await;
    let children = |salt: &str| {
        let child = |name: &str| config_map(name, json!({"salt": salt}));
        [
            child("kept"),
            with(ChildConfig::apply(), &child("applied")),
            with(ChildConfig::recreate(), &child("recreated")),
        ]
    };
    world.apply(RECIPE, recipe("r", &children("little"))).await;
    world.until_ready(RECIPE, "r").await;
    let names = ["kept", "applied", "recreated"];
    let mut before = Vec::new();
    for name in names {
        before.push(world.get(CONFIG_MAP, name).await);
    }
    world.apply(RECIPE, recipe("r", &children("much"))).await;
    let is_new = |now: &Value| now["data"]["salt"] == "much";
    let applied = world.until(CONFIG_MAP, "applied", "the update", is_new).await;
    let recreated = world.until(CONFIG_MAP, "recreated", "another one", is_new).await;
    assert_eq!(applied["metadata"]["uid"], before[1]["metadata"]["uid"]);
    assert_ne!(recreated["metadata"]["uid"], before[2]["metadata"]["uid"]);
    assert_eq!(world.get(CONFIG_MAP, "kept").await, before[0]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_object_is_adopted_by_the_options_of_one_child() {
    let world = World::new().await;
    let config = recipe::config("cook");
    let operators = world.start(|builder| builder.register(config, sync)).await;
    for name in ["a", "b"] {
        world.apply(CONFIG_MAP, config_map(name, json!({"salt": "theirs"}))).await;
    }
    let foreign = world.get(CONFIG_MAP, "b").await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "Conflict").await;
    let child = |name: &str| config_map(name, json!({"salt": "ours"}));
    let adopted = with(ChildConfig::apply().adopting(), &child("a"));
    world.apply(RECIPE, recipe("r", &[adopted, child("b")])).await;
    failure.until_reported("r", "already exists and is not owned by").await;
    assert_eq!(world.get(CONFIG_MAP, "a").await["data"]["salt"], "ours");
    assert_eq!(world.get(CONFIG_MAP, "b").await, foreign);
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_option_that_cannot_work_for_one_child_is_refused_with_its_name() {
    let world = World::new().await;
    let config = recipe::config("cook");
    let operators = world.start(|builder| builder.register(config, sync)).await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "InvalidChildren").await;
    let child = config_map("c", json!({}));
    let no_strategy = ChildConfig {
        update_strategy: UpdateStrategy::OnDelete,
        adopt: true,
        ..ChildConfig::apply()
    };
    for (config, words) in [
        (
            ChildConfig::apply().ignoring_status(),
            "`ignoring_status()` holds for all objects of a type: set it where the \
             `OperatorConfig` declares ConfigMap.v1",
        ),
        (ChildConfig::apply().orphan_on_delete(), "`orphan_on_delete()` holds for all objects"),
        (no_strategy, "`adopting()` is for children that are applied: write"),
    ] {
        world.apply(RECIPE, recipe("r", &[with(config, &child)])).await;
        let words = format!("ConfigMap.v1 {}/c: {words}", world.namespace);
        failure.until_reported("r", &words).await;
    }
    assert!(world.get(CONFIG_MAP, "c").await.is_null());
    operators.stop().await;
}
