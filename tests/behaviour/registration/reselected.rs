//! Parents that left the selection before the selection is changed: they are not known to be deleted.

use operetta::object::ObjectKey;

use super::{
    reconfigured::{config, labelled, reconfigure, start},
    *,
};
use crate::world::eventually;

/// A parent that left the selection; its child has what it wanted before.
async fn left(world: &World, operators: &Operators) {
    world.apply(RECIPE, labelled("p", "gold")).await;
    world.until_ready(RECIPE, "p").await;
    // Nothing changes later, so that only this version can be found.
    let spec = json!({"children": [config_map("p", json!({"a": "new"}))]});
    let patch = json!({"metadata": {"labels": {"tier": "tin"}}, "spec": spec});
    world.patch(RECIPE, "p", patch).await;
    let key = ObjectKey::namespaced(&world.namespace, "p");
    let is_shown = || async { operators.running().board().parent("cook", &key).is_some() };
    eventually("the parent forgotten", is_shown, |is_shown| !is_shown).await;
    operators.settled().await;
}

async fn until_found(world: &World) {
    let is_new = |child: &Value| child["data"]["a"] == "new";
    world.until(CONFIG_MAP, "p", "the parent found", is_new).await;
}

#[operetta_harness::test(server)]
async fn a_parent_that_left_the_selection_is_found_by_a_wider_one() {
    let world = World::new().await;
    let operators = start(&world, config().with_parent_selector("tier in (gold,silver)")).await;
    left(&world, &operators).await;
    reconfigure(&operators, config().with_parent_selector("tier in (gold,tin)")).await;
    until_found(&world).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_parent_that_left_the_selection_of_one_operator_is_found_by_a_later_one() {
    let world = World::new().await;
    let operators = start(&world, config().with_parent_selector("tier in (gold,silver)")).await;
    left(&world, &operators).await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let second = OperatorConfig::new("second", parent)
        .with_parent_selector("tier=tin")
        .with_finalizer_name("test.dev/second");
    operators.running().registrar().register(second, recipe::handler()).await.unwrap();
    let key = ObjectKey::namespaced(&world.namespace, "p");
    let is_shown = || async { operators.running().board().parent("second", &key).is_some() };
    eventually("the parent found", is_shown, |is_shown| *is_shown).await;
    operators.stop().await;
}
