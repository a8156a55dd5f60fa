//! Children are equal to what the handler returns.

use serde_json::json;

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, ECHO, POD, SERVICE, World},
};

#[operetta_harness::test(server)]
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

#[operetta_harness::test(server)]
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

#[operetta_harness::test(server)]
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
