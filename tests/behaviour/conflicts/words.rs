//! What a refusal says, and who says it: only the type itself can prove that a field is immutable.

use k8s_openapi::{
    api::apps::v1::Deployment,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::api::{Patch, PatchParams};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    needs::{Need, needs},
    recipe::{self, RECIPE, recipe},
    world::{DEPLOYMENT, Kind, World, condition, eventually},
};

const POLICY: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
);
const BINDING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
);
const LOCK: Kind = Kind("test.operetta.dev/v1", "Lock", "locks");

fn deployment(replicas: u32) -> Value {
    let container = json!({"name": "c", "image": "example.dev/c:1"});
    let labels = json!({"dish": "soup"});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }})
}

/// A policy that refuses a change of the replicas for now, in the words of an immutable field.
async fn hold_replicas(world: &World) {
    let here = format!("object.metadata.namespace == '{}'", world.namespace);
    let message = "replicas cannot change while a backup runs: the field is immutable";
    let policy = json!({"metadata": {"name": world.namespace}, "spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"],
            "operations": ["UPDATE"], "resources": ["deployments"]}]},
        "matchConditions": [{"name": "here", "expression": here}],
        "validations": [{"expression": "object.spec.replicas == oldObject.spec.replicas",
            "message": message, "reason": "Invalid"}],
    }});
    world.create(POLICY, policy).await;
    let binding = json!({"metadata": {"name": world.namespace}, "spec": {
        "policyName": world.namespace, "validationActions": ["Deny"],
    }});
    world.create(BINDING, binding).await;
    // It takes effect some time later.
    let changed = Patch::Merge(json!({"spec": {"replicas": 9}}));
    let tried = || async {
        let params = PatchParams { dry_run: true, ..PatchParams::default() };
        world.api(DEPLOYMENT).patch("c", &params, &changed).await.is_err()
    };
    eventually("the policy", tried, |refused| *refused).await;
}

#[operetta_harness::test(server)]
async fn a_policy_that_refuses_a_change_for_now_replaces_no_child() {
    needs(Need::Policies);
    for how in [ChildConfig::apply().recreate_if_immutable(), ChildConfig::apply()] {
        let world = World::new().await;
        let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
        let config = OperatorConfig::new("cook", parent).child::<Deployment>(how);
        let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
        world.apply(RECIPE, recipe("r", &[deployment(0)])).await;
        world.until_synced(RECIPE, "r").await;
        let before = world.get(DEPLOYMENT, "c").await;
        hold_replicas(&world).await;
        world.apply(RECIPE, recipe("r", &[deployment(1)])).await;
        let is_told = |parent: &Value| {
            let synced = condition(parent, "Synced");
            let message = synced["message"].as_str().unwrap_or_default();
            synced["status"] == "False" && message.contains("while a backup runs")
        };
        let told = world.until(RECIPE, "r", "the refusal", is_told).await;
        operators.settled().await;
        assert_eq!(world.get(DEPLOYMENT, "c").await["metadata"]["uid"], before["metadata"]["uid"]);
        assert!(!told.to_string().contains("recreate_if_immutable"), "{told}");
        world.delete(BINDING, &world.namespace).await;
        world.delete(POLICY, &world.namespace).await;
        world.delete(RECIPE, "r").await;
        operators.stop().await;
    }
}

/// A type whose schema says that a value stays.
fn lock() -> CustomResourceDefinition {
    let stays = json!([{"rule": "self == oldSelf", "message": "the key stays"}]);
    let key = json!({"type": "string", "x-kubernetes-validations": stays});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"key": key}},
    }});
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "locks.test.operetta.dev"},
        "spec": {
            "group": "test.operetta.dev", "scope": "Namespaced",
            "names": {"kind": LOCK.1, "plural": LOCK.2},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}],
        },
    }))
    .unwrap()
}

#[operetta_harness::test(server)]
async fn a_transition_rule_of_a_custom_type_proves_that_a_field_is_immutable() {
    let world = World::new().await;
    operetta::supervisor::install_crds(&world.client, &[lock()]).await.unwrap();
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let child = K8sType::namespaced(LOCK.0, LOCK.1, LOCK.2);
    let config = OperatorConfig::new("cook", parent)
        .child_of_type(child, ChildConfig::apply().recreate_if_immutable());
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    let lock = |key: &str| json!({"apiVersion": LOCK.0, "kind": LOCK.1, "metadata": {"name": "l"}, "spec": {"key": key}});
    world.apply(RECIPE, recipe("r", &[lock("a")])).await;
    world.until_synced(RECIPE, "r").await;
    let before = world.get(LOCK, "l").await;
    world.apply(RECIPE, recipe("r", &[lock("b")])).await;
    world.until(LOCK, "l", "another lock", |lock| lock["spec"]["key"] == "b").await;
    assert_ne!(world.get(LOCK, "l").await["metadata"]["uid"], before["metadata"]["uid"]);
    world.delete(RECIPE, "r").await;
    operators.stop().await;
}
