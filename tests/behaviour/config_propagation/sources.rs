//! Sources that are missing, that change their type, and that are Secrets.

use super::*;

/// The value of a Secret in base64, and as text.
const CODED: &str = "cDRzc3cwcmQ=";
#[operetta_harness::test]
async fn a_missing_source_is_reported_and_its_copies_stay() {
    let world = World::new().await;
    let (first, second) = (selected(&world, "a").await, selected(&world, "b").await);
    world.create(PROPAGATION, propagation(&world, "ConfigMap", &[])).await;
    let operators = start(&world).await;
    until_reported(&world, "Ready", "SourceMissing").await;
    source(&world, CONFIG_MAP, json!({"k": "one"})).await;
    for namespace in [&first, &second] {
        until_copied(&world, CONFIG_MAP, namespace, json!({"k": "one"})).await;
    }
    world.until_ready(PROPAGATION, &world.namespace).await;

    world.delete(CONFIG_MAP, "ca").await;
    let parent = until_reported(&world, "Ready", "SourceMissing").await;
    let message = condition(&parent, "Ready")["message"].to_string();
    assert!(message.contains("does not exist; the copies stay as they are"), "{message}");
    label(&world, &first, Value::Null).await;
    until_copied(&world, CONFIG_MAP, &first, Value::Null).await;
    assert_eq!(copy(&world, CONFIG_MAP, &second).await["data"], json!({"k": "one"}));

    source(&world, CONFIG_MAP, json!({"k": "two"})).await;
    until_copied(&world, CONFIG_MAP, &second, json!({"k": "two"})).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn another_type_of_the_secret_and_another_kind_of_source_replace_the_copies() {
    let world = World::new().await;
    let namespace = selected(&world, "a").await;
    source(&world, SECRET, json!({"k": CODED})).await;
    world.create(PROPAGATION, propagation(&world, "Secret", &[])).await;
    let operators = start(&world).await;
    let before = until_copied(&world, SECRET, &namespace, json!({"k": CODED})).await;
    world.delete(SECRET, "ca").await;
    until_reported(&world, "Ready", "SourceMissing").await;
    let typed =
        json!({"metadata": {"name": "ca"}, "type": "example.com/key", "data": {"k": CODED}});
    world.apply(SECRET, typed).await;
    let is_new = |copy: &Value| copy["type"] == "example.com/key";
    let after = eventually("the type", || copy(&world, SECRET, &namespace), is_new).await;
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"], "a type is immutable");

    source(&world, CONFIG_MAP, json!({"k": "text"})).await;
    world
        .patch(PROPAGATION, &world.namespace, json!({"spec": {"source": {"kind": "ConfigMap"}}}))
        .await;
    until_copied(&world, CONFIG_MAP, &namespace, json!({"k": "text"})).await;
    eventually("the Secret removed", || copy(&world, SECRET, &namespace), Value::is_null).await;
    operators.stop().await;
}
