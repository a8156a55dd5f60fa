//! Children are equal to what the handler returns.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, ECHO, POD, SERVICE, World, condition},
};

#[operetta_harness::test]
async fn an_echo_server_gets_a_pod_and_a_service_with_our_labels_owner_and_manager() {
    let world = World::new().await;
    let operators = world.start_all().await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "hello"}})).await;
    let parent = world.until_synced(ECHO, "a").await;
    for kind in [POD, SERVICE] {
        let child = world.get(kind, "a").await;
        let metadata = &child["metadata"];
        assert_eq!(metadata["labels"]["app.kubernetes.io/managed-by"], "echo-server");
        assert_eq!(metadata["labels"]["operetta.dev/parent-uid"], parent["metadata"]["uid"]);
        let owner = &metadata["ownerReferences"][0];
        assert_eq!(owner["uid"], parent["metadata"]["uid"]);
        assert_eq!((&owner["controller"], &owner["kind"]), (&json!(true), &json!("EchoServer")));
        let managers = metadata["managedFields"].as_array().unwrap();
        let applied = managers.iter().filter(|entry| entry["manager"] == "echo-server");
        assert_eq!(applied.map(|entry| &entry["operation"]).collect::<Vec<_>>(), ["Apply"]);
    }
    assert!(parent["status"]["message"].is_string(), "{parent:#}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_changed_service_name_reaches_both_children() {
    let world = World::new().await;
    let operators = world.start_all().await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "one"}})).await;
    world.until_synced(ECHO, "a").await;
    let old = world.get(POD, "a").await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "two"}})).await;
    let label = "app.kubernetes.io/name";
    let is_new = |child: &Value| child["metadata"]["labels"][label] == "two";
    let pod = world.until(POD, "a", "a pod of the new name", is_new).await;
    assert_ne!(pod["metadata"]["uid"], old["metadata"]["uid"], "pods are recreated");
    let selects_new = |service: &Value| service["spec"]["selector"][label] == "two";
    world.until(SERVICE, "a", "a service that selects the new name", selects_new).await;
    world.until_synced(ECHO, "a").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_label_and_a_field_that_are_no_longer_desired_disappear_from_the_child() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let mut child = config_map("c", json!({"salt": "much", "pepper": "some"}));
    child["metadata"]["labels"] = json!({"dish": "soup", "course": "first"});
    world.apply(RECIPE, recipe("r", &[child.clone()])).await;
    world.until_ready(RECIPE, "r").await;
    child["metadata"]["labels"] = json!({"dish": "soup"});
    child["data"] = json!({"salt": "much"});
    world.apply(RECIPE, recipe("r", &[child])).await;
    let child = world
        .until(CONFIG_MAP, "c", "the label and the field gone", |child| {
            child["metadata"]["labels"]["course"].is_null() && child["data"]["pepper"].is_null()
        })
        .await;
    assert_eq!(child["metadata"]["labels"]["dish"], "soup");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_that_is_no_longer_desired_is_deleted_and_the_others_stay() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let children = [config_map("a", json!({})), config_map("b", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_ready(RECIPE, "r").await;
    let kept = world.get(CONFIG_MAP, "a").await;
    world.apply(RECIPE, recipe("r", &children[..1])).await;
    world.until(CONFIG_MAP, "b", "no child b", Value::is_null).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "a").await, kept, "not written again");
    operators.stop().await;
}

#[operetta_harness::test]
async fn each_child_costs_one_write_and_the_parent_one_status() {
    let world = World::that_logs_requests().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    operators.settled().await;
    let before = world.our_requests().await.len();
    let children = [config_map("a", json!({"k": "v"})), config_map("b", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let requests = world.our_requests().await.split_off(before);
    let writes = requests.iter().filter(|request| request.is_write());
    let shown: Vec<_> = writes.map(|r| (&*r.resource, &*r.subresource)).collect();
    assert_eq!(shown, [("configmaps", ""), ("configmaps", ""), ("recipes", "status")]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_on_delete_child_is_not_modified_and_the_parent_reports_the_difference() {
    let world = World::new().await;
    let config = recipe::config_on_delete("cook");
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "none"}))])).await;
    let parent = world.until_ready(RECIPE, "r").await;
    let message = condition(&parent, "Synced")["message"].as_str().unwrap().to_owned();
    assert!(message.contains(".data.salt"), "{message}");
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child);
    world.delete(CONFIG_MAP, "c").await;
    let is_new = |child: &serde_json::Value| child["data"]["salt"] == "none";
    world.until(CONFIG_MAP, "c", "the new child", is_new).await;
    operators.stop().await;
}
