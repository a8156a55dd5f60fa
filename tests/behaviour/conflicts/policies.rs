//! Fields that other managers own.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use kube::api::{Patch, PatchParams};
use operetta::{operator::ConflictPolicy, prelude::*};
use serde_json::{Value, json};

use super::{events, message, start};
use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, DEPLOYMENT, Operators, SERVICE, World, condition},
};

/// Lets another manager own a field of a child with another value than the desired one.
async fn with_held_field(world: &World) {
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much", "oil": "a"}))])).await;
    world.until_ready(RECIPE, "r").await;
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": "none"}})).await;
}

/// An operator that yields to the owner of such a field.
async fn start_yielding(world: &World) -> Operators {
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield);
    let operators = start(world, policy).await;
    with_held_field(world).await;
    operators
}

#[operetta_harness::test(server)]
async fn a_field_of_another_manager_is_not_modified_until_that_manager_releases_it() {
    let world = World::new().await;
    let operators = start_yielding(&world).await;
    let is_reported = |parent: &Value| message(parent).contains(".data.salt (`by-hand`)");
    let parent = world.until(RECIPE, "r", "who holds it", is_reported).await;
    assert_eq!(condition(&parent, "Ready")["status"], "True");
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"], json!({"salt": "none", "oil": "a"}));
    // The rest is applied.
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much", "oil": "b"}))])).await;
    let has_oil = |child: &Value| child["data"] == json!({"salt": "none", "oil": "b"});
    world.until(CONFIG_MAP, "c", "the field that no other manager owns", has_oil).await;
    world.until(RECIPE, "r", "it again", is_reported).await;
    operators.settled().await;
    let (status, page) =
        operators.http(&format!("/api/v1/operators/cook/parents/{}/r", world.namespace)).await;
    assert!(status == 200 && page.contains(".data.salt (`by-hand`)"), "{page}");
    // The other manager releases the field.
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": null}})).await;
    let is_ours = |child: &Value| child["data"] == json!({"salt": "much", "oil": "b"});
    world.until(CONFIG_MAP, "c", "our value", is_ours).await;
    let is_quiet = |parent: &Value| message(parent) == "all children are up to date";
    world.until(RECIPE, "r", "nothing to say", is_quiet).await;
    operators.stop().await;
    assert_eq!(events(&world, "Conflict").await.len(), 1, "published once");
}

/// The released value is the default of the server.
#[operetta_harness::test(server)]
async fn a_released_field_is_applied_even_if_its_value_does_not_change() {
    let world = World::new().await;
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield);
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<Service>(policy);
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    let service = |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "c"}, "spec": spec});
    let wanted = json!({"ports": [{"port": 80}], "internalTrafficPolicy": "Local"});
    world.apply(RECIPE, recipe("r", &[service(wanted)])).await;
    world.until_ready(RECIPE, "r").await;
    let ci = PatchParams::apply("ci").force();
    let apply = async |body: Value| {
        world.api(SERVICE).patch("c", &ci, &Patch::Apply(body)).await.unwrap();
    };
    apply(service(json!({"internalTrafficPolicy": "Cluster"}))).await;
    let is_reported =
        |parent: &Value| message(parent).contains(".spec.internalTrafficPolicy (`ci`)");
    world.until(RECIPE, "r", "who holds it", is_reported).await;
    apply(service(json!({}))).await;
    let is_ours = |child: &Value| child["spec"]["internalTrafficPolicy"] == "Local";
    world.until(SERVICE, "c", "our value", is_ours).await;
    operators.stop().await;
}

/// Other managers own no fields of the new object.
#[operetta_harness::test(server)]
async fn a_child_with_an_immutable_field_is_recreated_although_other_managers_own_fields() {
    let world = World::new().await;
    let how = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield).recreate_if_immutable();
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<Deployment>(how);
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    let deployment = |dish: &str| {
        let container = json!({"name": "c", "image": "example.dev/c:1"});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"}, "spec": {
            "replicas": 0, "minReadySeconds": 1, "selector": {"matchLabels": {"dish": dish}},
            "template": {
                "metadata": {"labels": {"dish": dish}}, "spec": {"containers": [container]},
            },
        }})
    };
    world.apply(RECIPE, recipe("r", &[deployment("soup")])).await;
    world.until_synced(RECIPE, "r").await;
    let patient = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"},
        "spec": {"minReadySeconds": 2}});
    let ci = PatchParams::apply("ci").force();
    world.api(DEPLOYMENT).patch("c", &ci, &Patch::Apply(patient)).await.unwrap();
    let is_reported = |parent: &Value| message(parent).contains(".spec.minReadySeconds (`ci`)");
    world.until(RECIPE, "r", "who holds it", is_reported).await;
    world.apply(RECIPE, recipe("r", &[deployment("stew")])).await;
    let is_new = |child: &Value| child["spec"]["selector"]["matchLabels"]["dish"] == "stew";
    let child = world.until(DEPLOYMENT, "c", "the new object", is_new).await;
    assert_eq!(child["spec"]["minReadySeconds"], 1);
    operators.stop().await;
}

/// How many `ConfigMaps` are counted as in conflict now.
async fn in_conflict(operators: &Operators) -> String {
    let (_, metrics) = operators.http("/metrics").await;
    let gauge = "operetta_children_in_conflict{operator=\"cook\",type=\"configmaps\"} ";
    metrics.lines().find_map(|line| line.strip_prefix(gauge)).unwrap_or("none").to_owned()
}

/// The parent over HTTP once the operators have reconciled all changes.
async fn settled(world: &World, operators: &Operators) -> Value {
    operators.settled().await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    serde_json::from_str(&operators.http(&path).await.1).unwrap()
}

#[operetta_harness::test(server)]
async fn a_child_with_a_field_of_another_manager_is_reported_and_not_written() {
    let world = World::new().await;
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let operators = start(&world, policy).await;
    with_held_field(&world).await;
    let is_reported = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["status"] == "False"
            && ready["reason"] == "Conflict"
            && message(parent).contains(".data.salt (`by-hand`)")
    };
    world.until(RECIPE, "r", "a conflict", is_reported).await;
    let before = world.get(CONFIG_MAP, "c").await;
    // Fields that nobody else owns are not written either.
    let children =
        [config_map("c", json!({"salt": "much", "oil": "b"})), config_map("d", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until(CONFIG_MAP, "d", "the other child", Value::is_object).await;
    let is_observed = |parent: &Value| {
        condition(parent, "Ready")["observedGeneration"] == parent["metadata"]["generation"]
    };
    world.until(RECIPE, "r", "a look at the change", |p| is_observed(p) && is_reported(p)).await;
    let shown = settled(&world, &operators).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, before);
    // The phase agrees with the condition.
    assert_eq!(shown["phase"], "stalled", "{shown:#}");
    assert_eq!(in_conflict(&operators).await, "1");
    let what = shown["why"]["what"].as_str().unwrap();
    assert!(what.contains("is not written: others own .data.salt"), "{shown:#}");
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": null}})).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(message(&parent), "all children are up to date");
    assert_eq!(settled(&world, &operators).await["phase"], "ready");
    assert_eq!(in_conflict(&operators).await, "0");
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"], json!({"salt": "much", "oil": "b"}));
    operators.stop().await;
    assert_eq!(events(&world, "Conflict").await.len(), 1, "published once");
}
