//! A parent that leaves the selection loses what the decorator added.

use kube::api::DeleteParams;

use super::*;

#[operetta_harness::test(server)]
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
