//! Children in another namespace than their parent's, of an operator that is restricted to both.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Patch;
use operetta::{prelude::*, supervisor::SupervisorBuilder};
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use super::Places;
use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World, condition, eventually, is_ready},
};

/// `cook` in `a` and `b`.
fn config(places: &Places) -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply().delete_with_finalizer())
        .within_namespaces([&places.a, &places.b].map(String::as_str))
}

/// A child of `b`.
fn guest(places: &Places) -> Value {
    let mut child = config_map("c", json!({"salt": "much"}));
    child["metadata"]["namespace"] = json!(places.b);
    child
}

/// The parent in `a` wants these children from now on.
async fn wish(world: &World, places: &Places, children: &[Value]) {
    let patch = Patch::Merge(json!({"spec": {"children": children}}));
    world.api_in(RECIPE, Some(&places.a)).patch("r", &<_>::default(), &patch).await.unwrap();
}

/// Waits until a reconcile has looked at the parent as it is now.
async fn until_looked_at(world: &World, places: &Places) -> Value {
    let is_looked_at = |parent: &Value| {
        condition(parent, "Ready")["observedGeneration"] == parent["metadata"]["generation"]
    };
    world.until_in(&places.a, RECIPE, "r", is_looked_at).await
}

/// The namespaces in which the children of some parent were looked for.
fn looked_in<'a>(lists: impl Iterator<Item = &'a Request>) -> BTreeSet<&'a str> {
    let is_of_parent = |one: &&Request| {
        one.selector().is_some_and(|selector| selector.starts_with("operetta.dev/parent-uid="))
    };
    lists.filter(is_of_parent).map(|one| one.namespace().unwrap_or("*")).collect()
}

#[operetta_harness::test]
async fn a_child_in_another_of_its_namespaces_is_looked_after_to_the_end_of_the_parent() {
    let world = World::new().await;
    let places = world.places().await;
    lives_to_the_end_of_its_parent(&world, &places).await;
}

#[operetta_harness::test]
async fn children_are_looked_for_in_the_namespaces_of_the_operator_and_nowhere_else() {
    let world = World::that_logs_requests().await;
    let places = world.places().await;
    let (a, b) = (places.a.as_str(), places.b.as_str());
    let before = world.our_requests().len();
    lives_to_the_end_of_its_parent(&world, &places).await;
    let ours: Vec<Request> = world.our_requests().into_iter().skip(before).collect();
    let lists = || ours.iter().filter(|one| ["list", "watch"].contains(&one.verb.as_str()));
    assert_eq!(looked_in(lists()), BTreeSet::from([a, b]), "for what is left at the end");
    let beyond = lists().filter(|one| ![Some(a), Some(b)].contains(&one.namespace()));
    let beyond: Vec<&Request> = beyond.collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
}

async fn lives_to_the_end_of_its_parent(world: &World, places: &Places) {
    let (a, b) = (&places.a, &places.b);
    let operators = world.start(|builder| builder.register(config(places), recipe::sync)).await;
    world.create_in(a, RECIPE, recipe("r", &[guest(places)])).await;
    let parent = world.until_in(a, RECIPE, "r", is_ready).await;
    let child = world.get_in(b, CONFIG_MAP, "c").await;
    let labels = &child["metadata"]["labels"];
    assert_eq!(labels["operetta.dev/parent-uid"], parent["metadata"]["uid"]);

    world.api_in(CONFIG_MAP, Some(b)).delete("c", &<_>::default()).await.unwrap();
    let is_another =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != child["metadata"]["uid"];
    world.until_in(b, CONFIG_MAP, "c", is_another).await;
    wish(world, places, &[]).await;
    world.until_in(b, CONFIG_MAP, "c", Value::is_null).await;
    wish(world, places, &[guest(places)]).await;
    world.until_in(b, CONFIG_MAP, "c", Value::is_object).await;

    world.api_in(RECIPE, Some(a)).delete("r", &<_>::default()).await.unwrap();
    world.until_in(a, RECIPE, "r", Value::is_null).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_null(), "removed before the parent went");
    operators.stop().await;
}

#[operetta_harness::test]
async fn nothing_is_deleted_in_a_namespace_of_which_nothing_is_told() {
    let world = World::new().await;
    let (places, plan) = (world.places().await, FaultPlan::new());
    let (a, b) = (&places.a, &places.b);
    let connector = world.cluster.connector_through(&plan);
    let register = |builder: SupervisorBuilder| builder.register(config(&places), recipe::sync);
    let operators = world.start_over(connector, register).await;
    world.create_in(a, RECIPE, recipe("r", &[guest(&places)])).await;
    world.until_in(a, RECIPE, "r", is_ready).await;

    // The watch is lost with the permission at the next that happens.
    let rule = |fault| Rule::new(fault).resource("configmaps").namespace(b);
    plan.add(rule(Fault::CloseWatch).verb("watch").times(1));
    plan.add(rule(Fault::refuse(403)).verb("list").verb("watch"));
    let note = Patch::Merge(json!({"metadata": {"annotations": {"of": "somebody"}}}));
    world.api_in(CONFIG_MAP, Some(b)).patch("c", &<_>::default(), &note).await.unwrap();
    let is_degraded = |(code, _): &(u16, String)| *code == 503;
    eventually("the watch lost", || operators.http("/readyz/cook"), is_degraded).await;
    wish(&world, &places, &[]).await;
    let parent = until_looked_at(&world, &places).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_object(), "{parent:#}");
    plan.heal();
    world.until_in(b, CONFIG_MAP, "c", Value::is_null).await;

    // At the end of the parent the server is asked, and refuses.
    wish(&world, &places, &[guest(&places)]).await;
    world.until_in(a, RECIPE, "r", is_ready).await;
    let refused = plan.add(rule(Fault::refuse(403)).verb("list"));
    world.api_in(RECIPE, Some(a)).delete("r", &<_>::default()).await.unwrap();
    eventually("the list refused", || async { refused.hits() }, |hits| *hits > 0).await;
    let parent = until_looked_at(&world, &places).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_object(), "{parent:#}");
    plan.heal();
    world.until_in(a, RECIPE, "r", Value::is_null).await;
    assert!(world.get_in(b, CONFIG_MAP, "c").await.is_null(), "removed before the parent went");
    operators.stop().await;
}
