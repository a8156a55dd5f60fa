//! Takeover from a roperator program of the same name: children, fields, finalizers.

use kube::api::PostParams;
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Kind, Operators, POD, World},
};

async fn start(world: &World) -> Operators {
    let config = recipe::config("cook").succeeding_roperator();
    world.start(|builder| builder.register(config, recipe::handler())).await
}

/// Creates a child as roperator does: POST with its name as the manager, the uid of the parent and its
/// name as labels, and an owner reference without `blockOwnerDeletion`.
pub(crate) async fn leave_child(
    world: &World,
    kind: Kind,
    parent: &Value,
    mut child: Value,
) -> Value {
    let (name, uid) = (&parent["metadata"]["name"], &parent["metadata"]["uid"]);
    child["metadata"]["labels"] =
        json!({"app.kubernetes.io/instance": uid, "app.kubernetes.io/managed-by": "cook"});
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": RECIPE.0, "kind": RECIPE.1, "name": name, "controller": true, "uid": uid,
    }]);
    child["apiVersion"] = json!(kind.0);
    child["kind"] = json!(kind.1);
    let params = PostParams { field_manager: Some("cook".to_owned()), ..<_>::default() };
    let child = serde_json::from_value(child).unwrap();
    serde_json::to_value(world.api(kind).create(&params, &child).await.unwrap()).unwrap()
}

fn managers(object: &Value) -> Vec<(String, String)> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    entries.iter().map(|entry| (text(&entry["manager"]), text(&entry["operation"]))).collect()
}

#[operetta_harness::test(server)]
async fn a_child_of_roperator_is_taken_over_with_its_fields() {
    let world = World::new().await;
    let wanted = config_map("c", json!({"salt": "much", "pepper": "some"}));
    let parent = world.create(RECIPE, recipe("r", &[wanted])).await;
    let data = json!({"salt": "much", "pepper": "some", "stale": "no longer wanted"});
    let old = leave_child(&world, CONFIG_MAP, &parent, config_map("c", data)).await;
    world.patch(CONFIG_MAP, "c", json!({"data": {"sugar": "by hand"}})).await;
    let operators = start(&world).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["metadata"]["uid"], old["metadata"]["uid"], "it is the same object");
    assert_eq!(child["data"], json!({"salt": "much", "pepper": "some", "sugar": "by hand"}));
    assert_eq!(child["metadata"]["labels"], old["metadata"]["labels"]);
    let mut managers = managers(&child);
    managers.sort();
    let expected = [("by-hand", "Update"), ("cook", "Apply")];
    assert_eq!(managers, expected.map(|(name, by)| (name.to_owned(), by.to_owned())));
    // From now on a field that is no longer desired is removed.
    let less = [config_map("c", json!({"salt": "much"}))];
    world.apply(RECIPE, recipe("r", &less)).await;
    let is_less = |child: &Value| child["data"]["pepper"].is_null();
    let child = world.until(CONFIG_MAP, "c", "the field gone", is_less).await;
    assert_eq!(child["data"], json!({"salt": "much", "sugar": "by hand"}));
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_pod_of_roperator_is_taken_over_without_being_recreated_and_only_once() {
    let world = World::that_logs_requests().await;
    let spec = json!({"containers": [{"name": "c", "image": "example.dev/c:1"}]});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}, "spec": spec,
    });
    let parent = world.create(RECIPE, recipe("r", std::slice::from_ref(&pod))).await;
    let old = leave_child(&world, POD, &parent, pod).await;
    let operators = start(&world).await;
    world.until_synced(RECIPE, "r").await;
    let taken = world.get(POD, "c").await;
    assert_eq!(taken["metadata"]["uid"], old["metadata"]["uid"]);
    assert_eq!(managers(&taken), [("cook".to_owned(), "Apply".to_owned())]);
    operators.settled().await;
    operators.stop().await;
    let before = world.our_requests().await.len();
    let operators = start(&world).await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    let mut writes = world.our_requests().await.split_off(before);
    writes.retain(Request::is_write);
    assert_eq!(writes, [], "a restart writes nothing");
    operators.stop().await;
}

/// Creates a pod with a desired volume and another one, without the `injected` one in its managed fields.
async fn leave_pod(world: &World, injected: &str) -> Value {
    let volume = |name: &str| json!({"name": name, "emptyDir": {}});
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"},
        "spec": {
            "containers": [{"name": "c", "image": "example.dev/c:1"}], "volumes": [volume("own")],
        },
    });
    let parent = world.create(RECIPE, recipe("r", std::slice::from_ref(&pod))).await;
    pod["spec"]["volumes"] = json!([volume("own"), volume("more")]);
    let old = leave_child(world, POD, &parent, pod).await;
    let mut entries = old["metadata"]["managedFields"].clone();
    let volumes = entries[0]["fieldsV1"]["f:spec"]["f:volumes"].as_object_mut().unwrap();
    volumes.remove(injected);
    let managed = json!({"metadata": {"managedFields": entries}});
    world.patch(POD, "c", managed).await
}

/// The server adds a volume with a token to every pod, which no manager owns.
#[operetta_harness::test(server)]
async fn a_pod_of_roperator_that_the_server_has_added_to_is_not_recreated() {
    let world = World::new().await;
    let left = leave_pod(&world, "k:{\"name\":\"more\"}").await;
    let operators = start(&world).await;
    world.until_synced(RECIPE, "r").await;
    let taken = world.get(POD, "c").await;
    assert_eq!(taken["metadata"]["uid"], left["metadata"]["uid"]);
    assert_eq!(taken["spec"], left["spec"]);
    let mut managers = managers(&taken);
    managers.retain(|(name, _)| name == "cook");
    assert_eq!(managers, [("cook".to_owned(), "Apply".to_owned())]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn nothing_of_a_predecessor_is_taken_over_by_default() {
    let world = World::new().await;
    let wanted = config_map("c", json!({"salt": "much"}));
    let mut parent = recipe("r", &[wanted]);
    parent["metadata"]["finalizers"] = json!(["cook"]);
    let parent = world.create(RECIPE, parent).await;
    let data = json!({"salt": "much", "stale": "of somebody else"});
    leave_child(&world, CONFIG_MAP, &parent, config_map("c", data.clone())).await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["cook"]));
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"], data);
    operators.stop().await;
    world.patch(RECIPE, "r", json!({"metadata": {"finalizers": null}})).await;
}
