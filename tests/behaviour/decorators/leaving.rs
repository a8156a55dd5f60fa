//! A parent that leaves the selection loses what the decorator added.

use kube::api::DeleteParams;
use operetta::operator::{PAUSED_ANNOTATION, with_finalizer};

use super::*;

/// Asserts that the parent still has all that the decorator gave it.
async fn assert_decorated(world: &World) {
    let parent = world.get(DEPLOYMENT, "d").await;
    assert!(is_decorated(&parent), "{parent}");
    assert!(world.get(CONFIG_MAP, "extra").await.is_object());
}

#[operetta_harness::test]
async fn a_deselected_parent_loses_labels_annotations_and_children() {
    let world = World::new().await;
    let before = deployment(&world, "d", Some(everything())).await;
    let operators = start(&world).await;
    until_decorated(&world, "d").await;
    decorate(&world, "d", Value::Null).await;
    let left = world.until(DEPLOYMENT, "d", "nothing left", is_bare).await;
    world.until(CONFIG_MAP, "extra", "the child deleted", Value::is_null).await;
    assert_eq!(left["spec"], before["spec"]);
    assert_eq!(left["metadata"]["labels"], json!({"app": "d"}));
    assert_eq!(left["metadata"]["annotations"]["mine"], "stays");
    until_no_parent(&world, &operators, "decorator").await;
    decorate(&world, "d", everything()).await;
    until_decorated(&world, "d").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_parent_that_was_deselected_while_no_process_ran_is_cleaned_at_the_start() {
    let world = World::new().await;
    let only_child = json!({"children": ["extra"]});
    for wanted in [everything(), only_child] {
        deployment(&world, "d", Some(wanted)).await;
        let operators = start(&world).await;
        world.until(CONFIG_MAP, "extra", "the child", Value::is_object).await;
        operators.until_synced("decorator", &world.namespace, "d").await;
        operators.stop().await;
        decorate(&world, "d", Value::Null).await;
        let operators = start(&world).await;
        world.until(CONFIG_MAP, "extra", "the child deleted", Value::is_null).await;
        world.until(DEPLOYMENT, "d", "nothing left", is_bare).await;
        until_no_parent(&world, &operators, "decorator").await;
        operators.stop().await;
        world.api(DEPLOYMENT).delete("d", &DeleteParams::background()).await.unwrap();
        world.until(DEPLOYMENT, "d", "the parent deleted", Value::is_null).await;
    }
}

#[operetta_harness::test]
async fn a_parent_is_selected_by_labels_too() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let config = config("decorator", &world.namespace).with_parent_selector("tier=gold");
    let operators = world.start(|builder| builder.register(config, sync)).await;
    let tier = |tier: Value| json!({"metadata": {"labels": {"tier": tier}}});
    world.patch(DEPLOYMENT, "d", tier(json!("gold"))).await;
    until_decorated(&world, "d").await;
    world.patch(DEPLOYMENT, "d", tier(json!("tin"))).await;
    world.until(DEPLOYMENT, "d", "nothing left", is_bare).await;
    world.until(CONFIG_MAP, "extra", "the child deleted", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_paused_parent_keeps_what_it_has_until_the_pause_ends() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let operators = start(&world).await;
    until_decorated(&world, "d").await;
    let pause = |value: Value| json!({"metadata": {"annotations": {PAUSED_ANNOTATION: value}}});
    world.patch(DEPLOYMENT, "d", pause(json!("true"))).await;
    decorate(&world, "d", Value::Null).await;
    operators.settled().await;
    assert_decorated(&world).await;
    world.patch(DEPLOYMENT, "d", pause(Value::Null)).await;
    world.until(DEPLOYMENT, "d", "nothing left", is_bare).await;
    world.until(CONFIG_MAP, "extra", "the child deleted", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_decorator_with_a_finalizer_finalizes_before_it_leaves() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let finalize = |request: &SyncRequest| {
        Ok(match request.parent.labels().get("release") {
            Some(_) => FinalizeResponse::done(),
            None => FinalizeResponse::retry_after(Duration::from_hours(1)),
        })
    };
    let config = config("decorator", &world.namespace);
    let handler = with_finalizer(sync, finalize);
    let operators = world.start(|builder| builder.register(config, handler)).await;
    let decorated = until_decorated(&world, "d").await;
    assert_eq!(decorated["metadata"]["finalizers"], json!(["operetta.dev/decorator"]));
    decorate(&world, "d", Value::Null).await;
    operators.settled().await;
    assert_decorated(&world).await;
    world.patch(DEPLOYMENT, "d", json!({"metadata": {"labels": {"release": "now"}}})).await;
    let is_free = |it: &Value| it["metadata"].get("finalizers").is_none() && is_bare(it);
    world.until(DEPLOYMENT, "d", "the parent released", is_free).await;
    world.until(CONFIG_MAP, "extra", "the child deleted", Value::is_null).await;
    operators.stop().await;
}
