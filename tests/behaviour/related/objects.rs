//! A related object appears, changes and disappears; exactly those are woken that asked for it.

use super::*;

#[operetta_harness::test(server)]
async fn a_parent_follows_an_object_that_appears_changes_and_disappears() {
    let world = World::new().await;
    let operators = world.start(register).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["ca"]}))).await;
    until_seen(&world, "r", "").await;
    world.apply(SECRET, secret("ca", &["a"])).await;
    until_seen(&world, "r", "ca=a").await;
    world.apply(SECRET, secret("ca", &["a", "b"])).await;
    until_seen(&world, "r", "ca=a,b").await;
    operators.until_synced(READER, &world.namespace, "r").await;
    let shown = shown(&world, &operators, "r").await;
    let related = json!([{
        "apiVersion": "v1", "kind": "Secret", "which": format!("{}/ca", world.namespace), "found": 1,
    }]);
    assert_eq!(shown["related"], related);
    let causes =
        shown["history"].as_array().unwrap().iter().filter_map(|it| it["causes"].as_array());
    let changed = causes.flatten().find(|cause| cause["reason"] == "RelatedChanged").unwrap();
    assert!(changed["message"].as_str().unwrap().starts_with("related Secret.v1 "), "{changed}");
    world.delete(SECRET, "ca").await;
    until_seen(&world, "r", "").await;
    operators.stop().await;
}
