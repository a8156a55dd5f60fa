//! Children that Kubernetes cannot garbage-collect: in other namespaces, and cluster-scoped ones.

mod parent_deletion;

use k8s_openapi::api::{core::v1::ConfigMap, rbac::v1::ClusterRole};
use kube::api::{DeleteParams, Patch, PatchParams};
use operetta::prelude::*;
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CLUSTER_ROLE, CONFIG_MAP, NAMESPACE, Operators, World, condition, object},
};

const FINALIZER: &str = "operetta.dev/cook";

/// A world with a second namespace, which is deleted at the end of a test that passes.
struct Worlds {
    world: World,
    elsewhere: String,
}

impl Worlds {
    async fn new() -> Self {
        let world = World::new().await;
        let elsewhere = format!("{}-elsewhere", world.namespace);
        world.create(NAMESPACE, json!({"metadata": {"name": elsewhere}})).await;
        Self { world, elsewhere }
    }

    async fn start(&self) -> Operators {
        self.world.start(|builder| builder.register(config(), recipe::handler())).await
    }

    fn role_name(&self) -> String {
        format!("operetta-{}", self.world.namespace)
    }

    fn role(&self, verb: &str) -> Value {
        let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}]);
        json!({"apiVersion": CLUSTER_ROLE.0, "kind": CLUSTER_ROLE.1,
            "metadata": {"name": self.role_name()}, "rules": rules})
    }

    fn foreign(&self, name: &str, salt: &str) -> Value {
        let mut child = config_map(name, json!({"salt": salt}));
        child["metadata"]["namespace"] = json!(self.elsewhere);
        child
    }

    /// A config map of the other namespace; null when there is none.
    async fn there(&self, name: &str) -> Value {
        let api = self.world.api_in(CONFIG_MAP, Some(&self.elsewhere));
        serde_json::to_value(api.get_opt(name).await.unwrap()).unwrap()
    }

    /// Applies to the other namespace as a manager.
    async fn apply_there(&self, manager: &str, body: Value) -> Value {
        let object = object(CONFIG_MAP, body);
        let name = object.metadata.name.clone().unwrap();
        let api = self.world.api_in(CONFIG_MAP, Some(&self.elsewhere));
        let params = PatchParams::apply(manager).force();
        let applied = api.patch(&name, &params, &Patch::Apply(&object)).await.unwrap();
        serde_json::to_value(applied).unwrap()
    }

    /// Sends a JSON merge patch to a config map of the other namespace.
    async fn patch_there(&self, name: &str, patch: Value) {
        let api = self.world.api_in(CONFIG_MAP, Some(&self.elsewhere));
        api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    async fn end(self) {
        self.world.delete(NAMESPACE, &self.elsewhere).await;
        let params = DeleteParams::background();
        let _ = self.world.api(CLUSTER_ROLE).delete(&self.role_name(), &params).await;
    }
}

fn config() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply().delete_with_finalizer())
        .child::<ClusterRole>(ChildConfig::apply().delete_with_finalizer())
}

fn is_gone(object: &Value) -> bool {
    object.is_null()
}

/// The body with the labels of a child, as the `EndpointSlice` controller copies those of a Service.
fn copy(body: Value, uid: &Value) -> Value {
    let mut body = body;
    body["metadata"]["labels"] =
        json!({"operetta.dev/parent-uid": uid, "app.kubernetes.io/managed-by": "cook"});
    body
}

#[operetta_harness::test(server)]
async fn they_are_created_repaired_and_deleted_before_the_parent() {
    let worlds = Worlds::new().await;
    let world = &worlds.world;
    let operators = worlds.start().await;
    let children = |verb, salt| {
        vec![worlds.role(verb), worlds.foreign("c", salt), config_map("near", json!({}))]
    };
    world.apply(RECIPE, recipe("r", &children("get", "little"))).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(
        parent["metadata"]["finalizers"],
        json!([FINALIZER]),
        "although the handler has none"
    );
    let role = world.get(CLUSTER_ROLE, &worlds.role_name()).await;
    for child in [&role, &worlds.there("c").await] {
        let metadata = &child["metadata"];
        assert_eq!(metadata["labels"]["operetta.dev/parent-uid"], parent["metadata"]["uid"]);
        assert_eq!(metadata["ownerReferences"], Value::Null, "Kubernetes would collect it");
    }
    let near = world.get(CONFIG_MAP, "near").await;
    assert_eq!(near["metadata"]["ownerReferences"][0]["controller"], true, "as every other child");

    operators.settled().await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let shown: Value = serde_json::from_str(&operators.http(&path).await.1).unwrap();
    let shown = shown["children"].as_array().unwrap().clone();
    assert!(shown.len() == 3 && shown.iter().all(|child| child["owned"] == true), "{shown:?}");

    world.apply(RECIPE, recipe("r", &children("list", "much"))).await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(worlds.there("c").await["data"]["salt"], "much");
    world.delete(CLUSTER_ROLE, &worlds.role_name()).await;
    let is_back = |role: &Value| role["rules"][0]["verbs"][0] == "list";
    world.until(CLUSTER_ROLE, &worlds.role_name(), "the role again", is_back).await;

    let two = [worlds.role("list"), worlds.foreign("d", "")];
    world.apply(RECIPE, recipe("r", &two)).await;
    world.until_ready(RECIPE, "r").await;
    assert!(is_gone(&worlds.there("c").await) && !is_gone(&worlds.there("d").await));

    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "its end", is_gone).await;
    assert!(is_gone(&worlds.there("d").await), "removed before the parent went");
    assert!(is_gone(&world.get(CLUSTER_ROLE, &worlds.role_name()).await));
    operators.stop().await;
    worlds.end().await;
}

#[operetta_harness::test(server)]
async fn labels_without_the_field_manager_do_not_prove_ownership() {
    let worlds = Worlds::new().await;
    let world = &worlds.world;
    let operators = worlds.start().await;
    let parent = world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    let uid = &parent["metadata"]["uid"];
    let undesired = copy(worlds.foreign("undesired", "theirs"), uid);
    let desired = copy(worlds.foreign("desired", "theirs"), uid);
    let before = [
        worlds.apply_there("somebody", undesired).await,
        worlds.apply_there("somebody", desired.clone()).await,
    ];
    // The operator's manager on other fields does not prove ownership.
    let mixed = [
        worlds.apply_there("cook", worlds.foreign("mixed", "theirs")).await,
        worlds.apply_there("somebody", copy(worlds.foreign("mixed", "theirs"), uid)).await,
    ];
    world.apply(RECIPE, recipe("r", &[worlds.foreign("desired", "ours")])).await;
    let is_conflict = |parent: &Value| condition(parent, "Ready")["reason"] == "Conflict";
    world.until(RECIPE, "r", "the conflict", is_conflict).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "its end", is_gone).await;
    for (name, before) in
        ["undesired", "desired"].iter().zip(&before).chain([(&"mixed", &mixed[1])])
    {
        assert_eq!(worlds.there(name).await, *before, "{name} was modified");
    }
    operators.stop().await;
    worlds.end().await;
}

#[operetta_harness::test(server)]
async fn a_child_that_no_watch_has_shown_is_deleted_with_its_parent() {
    let worlds = Worlds::new().await;
    let (world, plan) = (&worlds.world, FaultPlan::new());
    let connector = world.cluster.connector_through(&plan);
    let operators =
        world.start_over(connector, |builder| builder.register(config(), recipe::handler())).await;
    let parent = world.apply(RECIPE, recipe("r", &[worlds.foreign("c", "")])).await;
    world.until_ready(RECIPE, "r").await;
    let held = Rule::new(Fault::HoldFrames).verb("watch").resource("configmaps").name("late");
    let held = plan.add(held.namespace(&worlds.elsewhere));
    // As after a create with a lost reply.
    let child = copy(worlds.foreign("late", ""), &parent["metadata"]["uid"]);
    worlds.apply_there("cook", child).await;
    held.until_hits(1).await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "its end", is_gone).await;
    assert!(is_gone(&worlds.there("late").await) && is_gone(&worlds.there("c").await));
    operators.stop().await;
    worlds.end().await;
}
