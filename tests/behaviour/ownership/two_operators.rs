//! Two processes with operators of different names for one parent type. One process refuses that, but two
//! processes cannot.

use operetta::{prelude::*, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE},
    world::{SERVICE, World, condition},
};

/// Returns the children for one operator: `spec.cook`, `spec.chef`.
fn children_for(name: &'static str) -> impl Fn(&SyncRequest) -> Result<SyncResponse> {
    move |request| {
        let spec = request.parent.field("spec").unwrap_or_default();
        let children = spec[name].as_array().cloned().unwrap_or_default();
        Ok(SyncResponse::new().children(children))
    }
}

fn of_both(cook: &[&str], chef: &[&str]) -> Value {
    let service = |name: &&str| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"ports": [{"port": 80}]}})
    };
    let [cook, chef] = [cook, chef].map(|names| names.iter().map(service).collect::<Vec<_>>());
    json!({"metadata": {"name": "r"}, "spec": {"cook": cook, "chef": chef}})
}

fn register(name: &'static str, builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.register(recipe::config(name), children_for(name))
}

/// With an operator with other labels, so that the process watches all services.
fn with_all_services(builder: SupervisorBuilder) -> SupervisorBuilder {
    let (mut config, handler) = operators::echo_server::operator().into_parts();
    config.labels.managed_by = String::from("example.dev/managed-by");
    builder.register(config, handler)
}

#[operetta_harness::test]
async fn two_versions_of_a_type_in_one_process_have_separate_metrics() {
    let world = World::new().await;
    let scalers = |version| {
        K8sType::namespaced(version, "HorizontalPodAutoscaler", "horizontalpodautoscalers")
    };
    let cook =
        recipe::config("cook").child_of_type(scalers("autoscaling/v1"), ChildConfig::apply());
    let (mut echo, handler) = operators::echo_server::operator().into_parts();
    echo = echo.child_of_type(scalers("autoscaling/v2"), ChildConfig::apply());
    let operators = world
        .start(|builder| builder.register(cook, recipe::handler()).register(echo, handler))
        .await;
    let (_, metrics) = operators.http("/metrics").await;
    for version in ["v1", "v2"] {
        let ty = format!("{{type=\"horizontalpodautoscalers.{version}.autoscaling\"}}");
        assert!(metrics.contains(&format!("operetta_cache_objects{ty} 0\n")), "{metrics}");
    }
    assert!(metrics.contains("operetta_cache_objects{type=\"services\"}"), "{metrics}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn two_operators_of_one_parent_delete_only_their_own_children() {
    let world = World::new().await;
    let cook = world.start(|builder| register("cook", with_all_services(builder))).await;
    let chef = world.start(|builder| register("chef", builder)).await;
    world.apply(RECIPE, of_both(&["a", "b"], &["c", "d"])).await;
    for name in ["a", "b", "c", "d"] {
        world.until(SERVICE, name, "a child", Value::is_object).await;
    }
    let kept = [world.get(SERVICE, "a").await, world.get(SERVICE, "c").await];
    world.apply(RECIPE, of_both(&["a"], &["c"])).await;
    for name in ["b", "d"] {
        world.until(SERVICE, name, "the undesired child deleted", Value::is_null).await;
    }
    world.until_ready(RECIPE, "r").await;
    cook.until_synced("cook", &world.namespace, "r").await;
    chef.until_synced("chef", &world.namespace, "r").await;
    let now = [world.get(SERVICE, "a").await, world.get(SERVICE, "c").await];
    assert_eq!(now, kept, "the desired children are not modified");
    cook.stop().await;
    chef.stop().await;
}

/// The parent of both owns it, so that neither knows that the other one manages it.
#[operetta_harness::test]
async fn two_operators_with_the_same_child_of_one_parent_are_reported_as_flapping() {
    let world = World::new().await;
    let cook = world.start(|builder| register("cook", builder)).await;
    let chef = world.start(|builder| register("chef", builder)).await;
    world.apply(RECIPE, of_both(&["a"], &["a"])).await;
    let is_reported = |parent: &Value| {
        let flapping = condition(parent, "Flapping");
        let message = flapping["message"].as_str().unwrap_or_default();
        flapping["reason"] == "FightingOverFields"
            && message.contains("managed-by")
            && (message.contains("cook") || message.contains("chef"))
    };
    world.until(RECIPE, "r", "the condition Flapping", is_reported).await;
    world.apply(RECIPE, of_both(&["a"], &[])).await;
    let is_of_cook =
        |service: &Value| service["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "cook";
    world.until(SERVICE, "a", "the child of the remaining operator", is_of_cook).await;
    cook.stop().await;
    chef.stop().await;
}
