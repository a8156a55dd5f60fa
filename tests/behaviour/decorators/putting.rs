//! Labels, annotations and children are put on a parent, changed and removed.

use super::*;

#[operetta_harness::test(server)]
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

    decorate(&world, "d", everything()).await;
    until_decorated(&world, "d").await;
    world.until(CONFIG_MAP, "extra", "the child again", Value::is_object).await;
    world.delete(DEPLOYMENT, "d").await;
    world.until(DEPLOYMENT, "d", "the parent deleted", Value::is_null).await;
    world.until(CONFIG_MAP, "extra", "the child collected", Value::is_null).await;
    until_no_parent(&world, &operators, "decorator").await;
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
