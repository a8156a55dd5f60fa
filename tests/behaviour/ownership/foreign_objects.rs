//! Children are repaired; foreign objects and fields are never modified.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, ENDPOINT_SLICE, Operators, SERVICE, World, condition, eventually},
};

async fn with_child(data: Value) -> (World, Operators, Value) {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    world.apply(RECIPE, recipe("r", &[config_map("c", data)])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    (world, operators, child)
}

#[operetta_harness::test(server)]
async fn a_deleted_child_is_created_again() {
    let (world, operators, child) = with_child(json!({"salt": "much"})).await;
    world.delete(CONFIG_MAP, "c").await;
    let uid = &child["metadata"]["uid"];
    let is_back = |now: &Value| now.is_object() && now["metadata"]["uid"] != *uid;
    let again = world.until(CONFIG_MAP, "c", "a new child", is_back).await;
    assert_eq!(again["data"], child["data"]);
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_child_edited_by_hand_is_repaired_and_a_field_that_we_do_not_own_stays() {
    let (world, operators, child) = with_child(json!({"salt": "much"})).await;
    let edit = json!({
        "data": {"salt": "none", "sugar": "mine"},
        "metadata": {"annotations": {"note": "mine"}},
    });
    world.patch(CONFIG_MAP, "c", edit).await;
    let is_repaired = |now: &Value| now["data"]["salt"] == "much";
    let repaired = world.until(CONFIG_MAP, "c", "the repaired field", is_repaired).await;
    assert_eq!(repaired["metadata"]["uid"], child["metadata"]["uid"]);
    assert_eq!(repaired["data"]["sugar"], "mine");
    assert_eq!(repaired["metadata"]["annotations"]["note"], "mine");
    operators.stop().await;
}

/// They stay through an update and through the deletion of the child.
#[operetta_harness::test(server)]
async fn finalizers_and_owners_that_others_gave_a_child_stay() {
    let (world, operators, child) = with_child(json!({"salt": "much"})).await;
    let friend = world.create(CONFIG_MAP, config_map("friend", json!({}))).await;
    let mut owners = child["metadata"]["ownerReferences"].clone();
    owners.as_array_mut().unwrap().push(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "friend", "uid": friend["metadata"]["uid"],
    }));
    let theirs = json!({"metadata": {
        "finalizers": ["example.com/backup"], "ownerReferences": owners, "labels": {"theirs": "yes"},
    }});
    world.patch(CONFIG_MAP, "c", theirs).await;
    let desired = json!([config_map("c", json!({"salt": "little"}))]);
    world.patch(RECIPE, "r", json!({"spec": {"children": desired}})).await;
    let is_updated = |now: &Value| now["data"]["salt"] == "little";
    let updated = world.until(CONFIG_MAP, "c", "the update", is_updated).await;
    assert_eq!(updated["metadata"]["finalizers"], json!(["example.com/backup"]));
    assert_eq!(updated["metadata"]["ownerReferences"], owners);
    assert_eq!(updated["metadata"]["labels"]["theirs"], "yes");
    world.patch(RECIPE, "r", json!({"spec": {"children": []}})).await;
    let is_leaving = |now: &Value| now["metadata"]["deletionTimestamp"].is_string();
    let leaving = world.until(CONFIG_MAP, "c", "its deletion", is_leaving).await;
    assert_eq!(leaving["metadata"]["finalizers"], json!(["example.com/backup"]));
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"finalizers": null}})).await;
    world.until(CONFIG_MAP, "c", "its end", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_child_whose_tracking_labels_were_stripped_is_repaired() {
    let (world, operators, child) = with_child(json!({"salt": "much"})).await;
    let strip = json!({"metadata": {"labels": {
        "operetta.dev/parent-uid": null, "app.kubernetes.io/managed-by": null,
    }}});
    let stripped = world.patch(CONFIG_MAP, "c", strip).await;
    let labels = &child["metadata"]["labels"];
    let is_labelled = |now: &Value| now["metadata"]["labels"] == *labels;
    let repaired = world.until(CONFIG_MAP, "c", "the labels again", is_labelled).await;
    assert_eq!(repaired["metadata"]["uid"], child["metadata"]["uid"], "the same object");
    let repair =
        eventually("the repair", || repair_of_r(&world, &operators), Value::is_object).await;
    // The manager that removed a field is unknown.
    let drift = json!({
        "from": child["metadata"]["resourceVersion"], "to": stripped["metadata"]["resourceVersion"],
    });
    assert_eq!((&repair["decision"], &repair["drift"]), (&json!("Updated"), &drift));
    assert_eq!(repair["paths"], json!([".metadata.labels"]), "all labels");
    let labels = r#"manager="unknown",operator="cook",type="configmaps""#;
    let line = format!("\noperetta_drift_repaired_total{{{labels}}} 1\n");
    operators.settled().await;
    let (_, metrics) = operators.http("/metrics").await;
    assert!(metrics.contains(&line), "{metrics}");
    operators.stop().await;
}

/// The repair in the history of the parent; null if there is none.
async fn repair_of_r(world: &World, operators: &Operators) -> Value {
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let parent: Value = serde_json::from_str(&operators.http(&path).await.1).unwrap();
    let reconciles = parent["history"].as_array().unwrap().iter();
    let mut decisions = reconciles.flat_map(|reconcile| reconcile["decisions"].as_array().unwrap());
    decisions.find(|decision| decision["drift"].is_object()).cloned().unwrap_or_default()
}

#[operetta_harness::test(server)]
async fn an_object_of_somebody_else_with_the_childs_name_is_never_touched() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let foreign = world.create(CONFIG_MAP, config_map("c", json!({"owner": "somebody"}))).await;
    let children = [config_map("c", json!({"salt": "much"})), config_map("d", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    let is_reported = |parent: &Value| condition(parent, "Ready")["reason"] == "Conflict";
    let parent = world.until(RECIPE, "r", "a conflict", is_reported).await;
    let message = condition(&parent, "Ready")["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&format!("ConfigMap.v1 {}/c", world.namespace)), "{message}");
    assert_eq!(world.get(CONFIG_MAP, "c").await, foreign);
    assert!(world.get(CONFIG_MAP, "d").await.is_object(), "the other child is written");
    // Once the foreign object is deleted the child is created.
    world.delete(CONFIG_MAP, "c").await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"], json!({"salt": "much"}));
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn endpoint_slices_that_copy_the_labels_of_a_service_stay() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}], "selector": {"dish": "soup"}},
    });
    world.apply(RECIPE, recipe("r", &[service])).await;
    world.until_ready(RECIPE, "r").await;
    let service = world.get(SERVICE, "s").await;
    // As by the EndpointSlice controller: the labels of the Service, and the Service as owner.
    let copy = json!({
        "metadata": {
            "name": "copied",
            "labels": service["metadata"]["labels"],
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Service", "name": "s", "controller": true,
                "uid": service["metadata"]["uid"],
            }],
        },
        "addressType": "IPv4", "endpoints": [], "ports": [],
    });
    world.create(ENDPOINT_SLICE, copy).await;
    // The reconcile that applies this change has seen the slice.
    let more = [json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 81}], "selector": {"dish": "soup"}},
    })];
    world.apply(RECIPE, recipe("r", &more)).await;
    let has_port = |service: &Value| service["spec"]["ports"][0]["port"] == 81;
    world.until(SERVICE, "s", "the new port", has_port).await;
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(ENDPOINT_SLICE, "copied").await.is_object());
    operators.stop().await;
}
