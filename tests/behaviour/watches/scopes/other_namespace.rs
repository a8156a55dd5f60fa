//! Children in another namespace than their parent, of an operator that is restricted to both.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Patch;
use operetta::{prelude::*, supervisor::SupervisorBuilder};
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use super::TestNamespaces;
use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World, condition, eventually, is_ready},
};

/// `cook` in `a` and `b`.
fn config(namespaces: &TestNamespaces) -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply().delete_with_finalizer())
        .within_namespaces([&namespaces.a, &namespaces.b].map(String::as_str))
}

/// A child of `b`.
fn child_in_b(namespaces: &TestNamespaces) -> Value {
    let mut child = config_map("c", json!({"salt": "much"}));
    child["metadata"]["namespace"] = json!(namespaces.b);
    child
}

/// Changes the desired children of the parent in `a`.
async fn set_children(world: &World, namespaces: &TestNamespaces, children: &[Value]) {
    let patch = Patch::Merge(json!({"spec": {"children": children}}));
    world.api_in(RECIPE, Some(&namespaces.a)).patch("r", &<_>::default(), &patch).await.unwrap();
}

/// Waits until the current generation of the parent was reconciled.
async fn until_observed(world: &World, namespaces: &TestNamespaces) -> Value {
    let is_observed = |parent: &Value| {
        condition(parent, "Ready")["observedGeneration"] == parent["metadata"]["generation"]
    };
    world.until_in(&namespaces.a, RECIPE, "r", is_observed).await
}

/// The namespaces in which children of a parent were listed.
fn searched<'a>(lists: impl Iterator<Item = &'a Request>) -> BTreeSet<&'a str> {
    let is_of_parent = |one: &&Request| {
        one.selector().is_some_and(|selector| selector.starts_with("operetta.dev/parent-uid="))
    };
    lists.filter(is_of_parent).map(|one| one.namespace().unwrap_or("*")).collect()
}

#[operetta_harness::test]
async fn only_the_namespaces_of_the_operator_are_searched_for_children() {
    let world = World::that_logs_requests().await;
    let namespaces = world.create_namespaces().await;
    let (a, b) = (namespaces.a.as_str(), namespaces.b.as_str());
    let before = world.our_requests().await.len();
    lives_to_the_end_of_its_parent(&world, &namespaces).await;
    let ours = world.our_requests().await.split_off(before);
    let lists = || ours.iter().filter(|one| ["list", "watch"].contains(&one.verb.as_str()));
    assert_eq!(searched(lists()), BTreeSet::from([a, b]), "at the end of the parent");
    let beyond = lists().filter(|one| ![Some(a), Some(b)].contains(&one.namespace()));
    let beyond: Vec<&Request> = beyond.collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
}

async fn lives_to_the_end_of_its_parent(world: &World, namespaces: &TestNamespaces) {
    let (a, b) = (&namespaces.a, &namespaces.b);
    let operators =
        world.start(|builder| builder.register(config(namespaces), recipe::handler())).await;
    world.create_in(a, RECIPE, recipe("r", &[child_in_b(namespaces)])).await;
    let parent = world.until_in(a, RECIPE, "r", is_ready).await;
    let child = world.get_in(b, CONFIG_MAP, "c").await;
    let labels = &child["metadata"]["labels"];
    assert_eq!(labels["operetta.dev/parent-uid"], parent["metadata"]["uid"]);

    world.api_in(CONFIG_MAP, Some(b)).delete("c", &<_>::default()).await.unwrap();
    let is_another =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != child["metadata"]["uid"];
    world.until_in(b, CONFIG_MAP, "c", is_another).await;
    set_children(world, namespaces, &[]).await;
    world.until_in(b, CONFIG_MAP, "c", Value::is_null).await;
    set_children(world, namespaces, &[child_in_b(namespaces)]).await;
    world.until_in(b, CONFIG_MAP, "c", Value::is_object).await;

    world.api_in(RECIPE, Some(a)).delete("r", &<_>::default()).await.unwrap();
    world.until_in(a, RECIPE, "r", Value::is_null).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_null(), "removed before the parent went");
    operators.stop().await;
}

#[operetta_harness::test]
async fn nothing_is_deleted_in_a_namespace_without_a_watch() {
    let world = World::new().await;
    let (namespaces, plan) = (world.create_namespaces().await, FaultPlan::new());
    let (a, b) = (&namespaces.a, &namespaces.b);
    let connector = world.cluster.connector_through(&plan);
    let register =
        |builder: SupervisorBuilder| builder.register(config(&namespaces), recipe::handler());
    let operators = world.start_over(connector, register).await;
    world.create_in(a, RECIPE, recipe("r", &[child_in_b(&namespaces)])).await;
    world.until_in(a, RECIPE, "r", is_ready).await;

    // The watch ends with the permission at the next event.
    let rule = |fault| Rule::new(fault).resource("configmaps").namespace(b);
    plan.add(rule(Fault::CloseWatch).verb("watch").times(1));
    plan.add(rule(Fault::refuse(403)).verb("list").verb("watch"));
    let note = Patch::Merge(json!({"metadata": {"annotations": {"of": "somebody"}}}));
    world.api_in(CONFIG_MAP, Some(b)).patch("c", &<_>::default(), &note).await.unwrap();
    let is_degraded = |(code, _): &(u16, String)| *code == 503;
    eventually("the watch lost", || operators.http("/readyz/cook"), is_degraded).await;
    set_children(&world, &namespaces, &[]).await;
    let parent = until_observed(&world, &namespaces).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_object(), "{parent:#}");
    plan.heal();
    world.until_in(b, CONFIG_MAP, "c", Value::is_null).await;

    // At the deletion of the parent the list is refused.
    set_children(&world, &namespaces, &[child_in_b(&namespaces)]).await;
    world.until_in(a, RECIPE, "r", is_ready).await;
    let refused = plan.add(rule(Fault::refuse(403)).verb("list"));
    world.api_in(RECIPE, Some(a)).delete("r", &<_>::default()).await.unwrap();
    refused.until_hits(1).await;
    let parent = until_observed(&world, &namespaces).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_object(), "{parent:#}");
    plan.heal();
    world.until_in(a, RECIPE, "r", Value::is_null).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_null(), "removed before the parent went");
    operators.stop().await;
}
