//! Copies are made, changed, repaired and removed.

use super::*;

#[operetta_harness::test]
async fn copies_follow_their_source_and_the_labels_of_namespaces() {
    let world = World::new().await;
    let (first, second) = (selected(&world, "a").await, selected(&world, "b").await);
    let excluded = selected(&world, "c").await;
    source(&world, CONFIG_MAP, json!({"k": "one", "old": "x"})).await;
    world.create(PROPAGATION, propagation(&world, "ConfigMap", &[&excluded])).await;
    let operators = start(&world).await;
    for namespace in [&first, &second] {
        until_copied(&world, CONFIG_MAP, namespace, json!({"k": "one", "old": "x"})).await;
    }
    let is_counted = |parent: &Value| parent["status"]["copies"] == 2;
    let parent = world.until(PROPAGATION, &world.namespace, "the status", is_counted).await;
    assert_eq!(parent["status"]["namespaces"], 2);
    world.until_ready(PROPAGATION, &world.namespace).await;
    assert!(copy(&world, CONFIG_MAP, &excluded).await.is_null());

    source(&world, CONFIG_MAP, json!({"k": "two"})).await;
    for namespace in [&first, &second] {
        until_copied(&world, CONFIG_MAP, namespace, json!({"k": "two"})).await;
    }
    label(&world, &first, Value::Null).await;
    until_copied(&world, CONFIG_MAP, &first, Value::Null).await;
    let late = selected(&world, "d").await;
    until_copied(&world, CONFIG_MAP, &late, json!({"k": "two"})).await;
    assert_eq!(copy(&world, CONFIG_MAP, &second).await["data"], json!({"k": "two"}));
    world.delete(PROPAGATION, &world.namespace).await;
    for namespace in [&second, &late] {
        until_copied(&world, CONFIG_MAP, namespace, Value::Null).await;
    }
    assert!(world.get(CONFIG_MAP, "ca").await.is_object(), "the source stays");
    operators.stop().await;
}
