//! What may be done with children beyond applying them: adoption, recreation, and leaving fields to
//! other managers.

mod conflicts;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use operetta::{
    board::{ParentState, RunStage},
    history::Verb,
    object::ObjectKey,
    prelude::*,
    testkit::eventually,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, EVENT, Kind, Operators, SERVICE, World, condition},
};

const DEPLOYMENT: Kind = Kind("apps/v1", "Deployment", "deployments");
const SECRET: Kind = Kind("v1", "Secret", "secrets");

/// The operator of the recipes, with other policies for `ConfigMaps`.
async fn start(world: &World, config_maps: ChildConfig) -> Operators {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(config_maps)
        .child::<Secret>(ChildConfig::apply())
        .with_error_backoff(
            std::time::Duration::from_millis(100),
            std::time::Duration::from_hours(1),
        );
    world.start(|builder| builder.register(config, recipe::sync)).await
}

/// What was ever done to children of the parent, as its history says once it is at rest: a status
/// can be read before the run that wrote it has ended.
async fn verbs(world: &World, operators: &Operators) -> Vec<Verb> {
    let key = ObjectKey::namespaced(&world.namespace, "r");
    let parent = || async { operators.running().board().parent("cook", &key) };
    let parent = eventually("the parent at rest", parent, |parent| {
        parent.as_ref().is_some_and(|parent| parent.run == RunStage::Ahead)
    });
    let mut runs: Vec<_> = parent.await.unwrap().history.newest_first().cloned().collect();
    runs.reverse();
    let decisions = runs.iter().flat_map(|run| run.decisions.iter());
    decisions.filter_map(|decision| decision.what.verb()).collect()
}

/// The Events with a reason, of which there is one at least.
async fn events(world: &World, reason: &str) -> Vec<Value> {
    let events = || async {
        let events = world.list(EVENT).await.into_iter();
        events.filter(|event| event["reason"] == reason).collect::<Vec<_>>()
    };
    eventually(reason, events, |events| !events.is_empty()).await
}

/// What the parent says of its children.
fn message(parent: &Value) -> String {
    condition(parent, "Ready")["message"].as_str().unwrap_or_default().to_owned()
}

// === adopting ===

#[operetta_harness::test]
async fn an_object_of_nobody_is_adopted_with_the_fields_of_its_managers() {
    let world = World::new().await;
    let old = json!({"salt": "little", "stale": "of an earlier program"});
    let before = world.apply(CONFIG_MAP, config_map("c", old)).await;
    world.patch(CONFIG_MAP, "c", json!({"data": {"sugar": "by hand"}})).await;
    let operators = start(&world, ChildConfig::apply().adopting()).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    let parent = world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["metadata"]["uid"], before["metadata"]["uid"], "it is the same object");
    assert_eq!(child["data"], json!({"salt": "much"}));
    let owner = &child["metadata"]["ownerReferences"][0];
    assert_eq!(owner["uid"], parent["metadata"]["uid"]);
    assert_eq!(owner["controller"], true);
    assert_eq!(child["metadata"]["labels"]["app.kubernetes.io/managed-by"], "cook");
    assert_eq!(verbs(&world, &operators).await, [Verb::Adopted]);
    let events = events(&world, "Adopted").await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "Normal");
    // It is a child like any other now.
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until(CONFIG_MAP, "c", "no child", Value::is_null).await;
    operators.stop().await;
}

/// They protect what is none of ours.
#[operetta_harness::test]
async fn an_object_is_adopted_with_the_finalizers_and_owners_that_others_have_given_it() {
    let world = World::new().await;
    let owner = world.create(CONFIG_MAP, config_map("owner", json!({}))).await;
    world.apply(CONFIG_MAP, config_map("c", json!({"salt": "little"}))).await;
    let owners = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"],
    }]);
    let theirs = json!({"finalizers": ["example.com/backup"], "ownerReferences": owners});
    world.patch(CONFIG_MAP, "c", json!({"metadata": theirs})).await;
    let operators = start(&world, ChildConfig::apply().adopting()).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["data"], json!({"salt": "much"}));
    assert_eq!(child["metadata"]["finalizers"], theirs["finalizers"]);
    assert_eq!(child["metadata"]["ownerReferences"].as_array().unwrap().len(), 2, "{child}");
    // Nor is that a difference.
    assert_eq!(verbs(&world, &operators).await, [Verb::Adopted]);
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"finalizers": null}})).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_object_with_a_controller_is_not_adopted_until_it_has_none() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply().adopting()).await;
    let other = world.create(CONFIG_MAP, config_map("other", json!({}))).await;
    let mut taken = config_map("c", json!({"salt": "theirs"}));
    taken["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "other", "controller": true,
        "uid": other["metadata"]["uid"],
    }]);
    let taken = world.create(CONFIG_MAP, taken).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    let says_so = |parent: &Value| condition(parent, "Ready")["reason"] == "Conflict";
    world.until(RECIPE, "r", "a conflict", says_so).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, taken);
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"ownerReferences": null}})).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["metadata"]["uid"], taken["metadata"]["uid"]);
    assert_eq!(child["data"], json!({"salt": "much"}));
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_object_that_is_being_deleted_is_not_adopted() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply().adopting()).await;
    let mut ending = config_map("c", json!({"salt": "theirs"}));
    ending["metadata"]["finalizers"] = json!(["test.operetta.dev/held"]);
    let ending = world.create(CONFIG_MAP, ending).await;
    world.delete(CONFIG_MAP, "c").await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    let says_so = |parent: &Value| condition(parent, "Ready")["reason"] == "Waiting";
    world.until(RECIPE, "r", "that it waits", says_so).await;
    let still = world.get(CONFIG_MAP, "c").await;
    assert_eq!(still["data"], ending["data"]);
    assert!(still["metadata"]["ownerReferences"].is_null());
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"finalizers": null}})).await;
    let parent = world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_ne!(child["metadata"]["uid"], ending["metadata"]["uid"]);
    assert_eq!(child["metadata"]["ownerReferences"][0]["uid"], parent["metadata"]["uid"]);
    operators.stop().await;
}

// === recreating ===

fn frozen(salt: &str) -> Value {
    let mut child = config_map("c", json!({"salt": salt}));
    child["immutable"] = json!(true);
    child
}

#[operetta_harness::test]
async fn a_child_with_an_immutable_field_is_recreated_where_that_is_asked_for() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply().recreate_if_immutable()).await;
    world.apply(RECIPE, recipe("r", &[frozen("little")])).await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, recipe("r", &[frozen("much")])).await;
    world.until_ready(RECIPE, "r").await;
    let after = world.get(CONFIG_MAP, "c").await;
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["data"], json!({"salt": "much"}));
    let expected = [Verb::Created, Verb::Deleted, Verb::Created];
    assert_eq!(verbs(&world, &operators).await, expected);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_with_an_immutable_field_stays_where_nobody_asked() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    world.apply(RECIPE, recipe("r", &[frozen("little")])).await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, recipe("r", &[frozen("much")])).await;
    let says_so = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["reason"] == "WriteFailed"
            && ready["message"].as_str().is_some_and(|message| message.contains("immutable"))
    };
    world.until(RECIPE, "r", "a refused write", says_so).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, before);
    // Who deletes it does not wait for the time when the change would have been tried again.
    world.delete(CONFIG_MAP, "c").await;
    let is_new = |child: &Value| child["data"] == frozen("much")["data"];
    world.until(CONFIG_MAP, "c", "the child as it is wanted by now", is_new).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn selectors_addresses_and_types_are_changed_by_a_new_object() {
    let world = World::new().await;
    let config = ChildConfig::apply().recreate_if_immutable();
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<Deployment>(config)
        .child::<Secret>(config)
        .child::<Service>(config);
    let operators = world.start(|builder| builder.register(config, recipe::sync)).await;
    let children = |dish: &str, ip: Value, ty: &str| {
        let container = json!({"name": "c", "image": "example.dev/c:1"});
        [
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"}, "spec": {
                "replicas": 0, "selector": {"matchLabels": {"dish": dish}},
                "template": {
                    "metadata": {"labels": {"dish": dish}}, "spec": {"containers": [container]},
                },
            }}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "c"}, "spec": {
                "clusterIP": ip, "ports": [{"port": 80}],
            }}),
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}, "type": ty,
                "stringData": {"salt": "much"},
            }),
        ]
    };
    let uids = async || {
        let mut uids = Vec::new();
        for kind in [DEPLOYMENT, SERVICE, SECRET] {
            uids.push(world.get(kind, "c").await["metadata"]["uid"].clone());
        }
        uids
    };
    world.apply(RECIPE, recipe("r", &children("soup", Value::Null, "a.dev/a"))).await;
    world.until_ready(RECIPE, "r").await;
    let before = uids().await;
    world.apply(RECIPE, recipe("r", &children("stew", json!("None"), "a.dev/b"))).await;
    world.until_ready(RECIPE, "r").await;
    let after = uids().await;
    assert!(before.iter().zip(&after).all(|(old, new)| old != new), "{before:?} {after:?}");
    assert_eq!(world.get(SECRET, "c").await["type"], "a.dev/b");
    assert_eq!(world.get(SERVICE, "c").await["spec"]["clusterIP"], "None");
    let selector = &world.get(DEPLOYMENT, "c").await["spec"]["selector"]["matchLabels"];
    assert_eq!(*selector, json!({"dish": "stew"}));
    operators.stop().await;
}

// === several at once ===

/// Its end makes the parent run, which the failure of another would have wait for a minute.
#[operetta_harness::test]
async fn a_child_is_created_anew_as_soon_as_it_is_gone_although_another_is_refused() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let held = json!({"metadata": {"finalizers": ["example.dev/hold"]}});
    world.patch(CONFIG_MAP, "c", held).await;
    world.delete(CONFIG_MAP, "c").await;
    let children = ["Not_A_Name", "c"].map(|name| config_map(name, json!({})));
    world.apply(RECIPE, recipe("r", &children)).await;
    let says_so = |parent: &Value| condition(parent, "Ready")["reason"] == "WriteFailed";
    world.until(RECIPE, "r", "a refused write", says_so).await;
    let ending = world.get(CONFIG_MAP, "c").await;
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"finalizers": null}})).await;
    let is_new =
        |child: &Value| child.is_object() && child["metadata"]["uid"] != ending["metadata"]["uid"];
    world.until(CONFIG_MAP, "c", "another object", is_new).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn children_that_fail_are_all_said_and_the_others_go_on() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    let names = ["Not_A_Name", "good", "Nor_This", "better"];
    let children = names.map(|name| config_map(name, json!({})));
    world.apply(RECIPE, recipe("r", &children)).await;
    let says_so = |parent: &Value| {
        condition(parent, "Ready")["reason"] == "WriteFailed"
            && ["Not_A_Name", "Nor_This"].iter().all(|name| message(parent).contains(name))
    };
    let parent = world.until(RECIPE, "r", "both failures", says_so).await;
    assert!(!message(&parent).contains("good"), "{parent}");
    for name in ["good", "better"] {
        assert!(world.get(CONFIG_MAP, name).await.is_object(), "{name}");
    }
    operators.stop().await;
}
