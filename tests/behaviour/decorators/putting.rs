//! Labels, annotations and children are put on a parent, changed and removed.

use super::*;
use crate::world::EVENT;

#[operetta_harness::test]
async fn what_a_decorator_returns_is_put_on_the_parent_changed_and_removed() {
    let world = World::new().await;
    let before = deployment(&world, "d", Some(everything())).await;
    deployment(&world, "other", None).await;
    let operators = start(&world).await;
    let decorated = until_decorated(&world, "d").await;
    assert_eq!(decorated["spec"], before["spec"], "the spec is not written");
    assert_eq!(decorated["metadata"]["labels"]["app"], "d");
    assert_eq!(decorated["metadata"]["annotations"]["mine"], "stays");
    assert_eq!(decorated["metadata"].get("finalizers"), None);
    let types = |object: &Value| object["status"]["conditions"].to_string();
    assert!(!types(&decorated).contains("Synced"), "{decorated}");
    let child = world.get(CONFIG_MAP, "extra").await;
    assert_eq!(child["metadata"]["ownerReferences"][0]["uid"], decorated["metadata"]["uid"]);

    decorate(&world, "d", json!({"labels": {LABEL: "green"}})).await;
    let is_changed = |deployment: &Value| {
        has_label("green")(deployment) && deployment["metadata"]["annotations"].get(NOTE).is_none()
    };
    world.until(DEPLOYMENT, "d", "the change", is_changed).await;
    world.until(CONFIG_MAP, "extra", "the child removed", Value::is_null).await;
    decorate(&world, "d", json!({})).await;
    world.until(DEPLOYMENT, "d", "nothing left", is_bare).await;
    operators.until_synced("decorator", &world.namespace, "d").await;
    let other = world.get(DEPLOYMENT, "other").await;
    assert_eq!(other["metadata"]["labels"], json!({"app": "other"}), "it is not selected");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_restart_over_decorated_parents_writes_nothing() {
    let world = World::that_logs_requests().await;
    deployment(&world, "d", Some(everything())).await;
    let operators = start(&world).await;
    until_decorated(&world, "d").await;
    operators.settled().await;
    operators.stop().await;
    let before = writes(&world).await;
    let operators = start(&world).await;
    operators.until_synced("decorator", &world.namespace, "d").await;
    operators.settled().await;
    assert_eq!(writes(&world).await.split_off(before.len()), []);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_label_that_somebody_removed_is_put_back() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let operators = start(&world).await;
    until_decorated(&world, "d").await;
    let gone = world.patch(DEPLOYMENT, "d", json!({"metadata": {"labels": {LABEL: null}}})).await;
    assert_eq!(gone["metadata"]["labels"].get(LABEL), None);
    world.until(DEPLOYMENT, "d", "the label", has_label("blue")).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_invalid_label_is_reported_and_nothing_is_written() {
    let world = World::new().await;
    let wanted = json!({"labels": {LABEL: "blue", "not a name": "x"}, "children": ["extra"]});
    let before = deployment(&world, "d", Some(wanted)).await;
    let operators = start(&world).await;
    let message = until_failing(&world, &operators, "decorator").await;
    assert!(message.contains("the label `not a name` of the parent"), "{message}");
    let is_reported = |events: &Vec<Value>| {
        events.iter().any(|event| event["note"].to_string().contains("the label `not a name`"))
    };
    eventually("an Event", || world.list(EVENT), is_reported).await;
    let after = world.get(DEPLOYMENT, "d").await;
    assert_eq!(after["metadata"]["labels"], before["metadata"]["labels"]);
    assert!(world.get(CONFIG_MAP, "extra").await.is_null());
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_failing_handler_leaves_the_decoration_as_it_is() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let operators = start(&world).await;
    until_decorated(&world, "d").await;
    let broken = json!({"metadata": {"annotations": {DECORATE: "no JSON"}}});
    world.patch(DEPLOYMENT, "d", broken).await;
    until_failing(&world, &operators, "decorator").await;
    until_decorated(&world, "d").await;
    operators.stop().await;
}

/// The preview of the page shows what would be put on the parent.
#[operetta_harness::test]
async fn a_plan_shows_what_would_be_put_on_the_parent() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let config = config("decorator", &world.namespace);
    let operators = world.start(|builder| builder.register(config, sync).plan_only()).await;
    let path = format!("/api/v1/operators/decorator/parents/{}/d?diff=1", world.namespace);
    let shown = || async { operators.http(&path).await.1 };
    let is_shown = |text: &String| text.contains(LABEL) && text.contains("blue");
    eventually("the plan", shown, is_shown).await;
    assert!(is_bare(&world.get(DEPLOYMENT, "d").await));
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_deleted_parent_takes_its_children_along_and_needs_no_finalizer() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let operators = start(&world).await;
    until_decorated(&world, "d").await;
    world.delete(DEPLOYMENT, "d").await;
    world.until(DEPLOYMENT, "d", "the parent deleted", Value::is_null).await;
    world.until(CONFIG_MAP, "extra", "the child collected", Value::is_null).await;
    until_no_parent(&world, &operators, "decorator").await;
    operators.stop().await;
}
