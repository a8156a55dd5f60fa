//! Fields that a child has only as a start: another manager may take them.

use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Patch, PatchParams};
use operetta::{prelude::*, supervisor::SupervisorBuilder};
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use crate::{
    recipe::{RECIPE, recipe},
    world::{DEPLOYMENT, Operators, World},
};

/// A Deployment with the replicas and the image of `spec`. They are only a start if `spec.starts` says so.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"},
        "spec": {
            "selector": {"matchLabels": {"app": "c"}},
            "template": {
                "metadata": {"labels": {"app": "c"}},
                "spec": {"containers": [{"name": "c", "image": spec["image"]}]},
            },
        },
    });
    if spec["replicas"].is_number() {
        deployment["spec"]["replicas"] = spec["replicas"].clone();
    }
    let response = SyncResponse::status(json!({})).child(deployment);
    let starts = spec["starts"] == true;
    Ok(if starts { response.initial_field("/spec/replicas") } else { response })
}

fn register(builder: SupervisorBuilder) -> SupervisorBuilder {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<Deployment>(ChildConfig::apply());
    builder.register(config, sync)
}

/// Sets the replicas, the image and whether the replicas are only a start; waits for the image.
async fn want(world: &World, replicas: Option<i32>, image: &str, starts: bool) -> Value {
    let mut parent = recipe("r", &[]);
    parent["spec"] =
        json!({"children": [], "replicas": replicas, "image": image, "starts": starts});
    world.apply(RECIPE, parent).await;
    world.until_synced(RECIPE, "r").await;
    world.until(DEPLOYMENT, "c", "its image", |child| has_image(child, image)).await
}

fn has_image(child: &Value, image: &str) -> bool {
    child["spec"]["template"]["spec"]["containers"][0]["image"] == image
}

/// As a `HorizontalPodAutoscaler` does.
async fn scale(world: &World, replicas: i32) {
    let params = PatchParams { field_manager: Some("autoscaler".to_owned()), ..<_>::default() };
    let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
    world.api(DEPLOYMENT).patch_scale("c", &params, &patch).await.unwrap();
}

async fn reconcile_again(world: &World, operators: &Operators) {
    world.patch(RECIPE, "r", json!({"metadata": {"labels": {"touched": "yes"}}})).await;
    world.until_synced(RECIPE, "r").await;
    operators.settled().await;
}

#[operetta_harness::test(server)]
async fn replicas_that_are_a_start_are_left_to_whoever_scales() {
    let world = World::new().await;
    let operators = world.start(register).await;
    let created = want(&world, Some(2), "example.dev/c:1", true).await;
    assert_eq!(created["spec"]["replicas"], 2);
    // The handler may say something else later: it is no start any more.
    let changed = want(&world, Some(3), "example.dev/c:2", true).await;
    assert_eq!(changed["spec"]["replicas"], 2);
    scale(&world, 5).await;
    let changed = want(&world, Some(3), "example.dev/c:3", true).await;
    assert_eq!(changed["spec"]["replicas"], 5);
    scale(&world, 4).await;
    reconcile_again(&world, &operators).await;
    let scaled = world.get(DEPLOYMENT, "c").await;
    assert_eq!(scaled["spec"]["replicas"], 4);
    // A new one begins again.
    world.delete(DEPLOYMENT, "c").await;
    let is_new =
        |child: &Value| !child.is_null() && child["metadata"]["uid"] != created["metadata"]["uid"];
    let again = world.until(DEPLOYMENT, "c", "another one", is_new).await;
    assert_eq!(again["spec"]["replicas"], 3);
    operators.stop().await;
}

/// The server would set one replica as soon as nobody applies any.
#[operetta_harness::test(server)]
async fn applied_replicas_stay_when_they_become_a_start() {
    let world = World::new().await;
    let operators = world.start(register).await;
    want(&world, Some(3), "example.dev/c:1", false).await;
    let changed = want(&world, None, "example.dev/c:2", true).await;
    assert_eq!(
        (&changed["spec"]["replicas"], &changed["metadata"]["generation"]),
        (&json!(3), &json!(2))
    );
    scale(&world, 1).await;
    reconcile_again(&world, &operators).await;
    assert_eq!(world.get(DEPLOYMENT, "c").await["spec"]["replicas"], 1);
    // What is desired again is applied.
    let taken = want(&world, Some(2), "example.dev/c:3", false).await;
    assert_eq!(taken["spec"]["replicas"], 2);
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_write_does_not_take_back_what_was_scaled_meanwhile() {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let connector = world.cluster.connector_through(&plan);
    let operators = world.start_over(connector, register).await;
    want(&world, Some(2), "example.dev/c:1", true).await;
    operators.settled().await;
    let rule = Rule::new(Fault::HoldRequest).verb("patch").resource("deployments");
    let held = plan.add(rule.namespace(&world.namespace).times(1));
    world.patch(RECIPE, "r", json!({"spec": {"image": "example.dev/c:2"}})).await;
    held.until_hits(1).await;
    scale(&world, 5).await;
    held.end();
    let has_changed = |child: &Value| has_image(child, "example.dev/c:2");
    let changed = world.until(DEPLOYMENT, "c", "its image", has_changed).await;
    assert_eq!(changed["spec"]["replicas"], 5);
    let of_parent = world.until_synced(RECIPE, "r").await;
    assert_eq!(of_parent["spec"]["image"], "example.dev/c:2");
    operators.stop().await;
}
