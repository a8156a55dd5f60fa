//! An operator of two namespaces works in the one that it may read, from its start on, and names the other.

use kube::api::Patch;
use operetta::{operator::AnyOperator, prelude::*, supervisor::SupervisorBuilder};
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use super::{
    TestNamespaces,
    forbidden::{allow_within, assert_cook_works, until_state},
    parent_with_child,
};
use crate::{
    cluster::connector_to,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, NAMESPACE, Operators, World, condition, eventually, is_ready, object},
};

fn both(namespaces: &TestNamespaces) -> [&str; 2] {
    [&namespaces.a, &namespaces.b].map(String::as_str)
}

fn cook(namespaces: &TestNamespaces) -> AnyOperator {
    let config = recipe::config("cook").within_namespaces(both(namespaces));
    AnyOperator::new(config, recipe::sync)
}

async fn start(world: &World, config: &kube::Config, namespaces: &TestNamespaces) -> Operators {
    let cook = cook(namespaces);
    let register = |all: SupervisorBuilder| all.register_any(cook);
    world.start_over(connector_to(config.clone()), register).await
}

/// A parent with a child of its own name.
fn named(name: &str) -> Value {
    recipe(name, &[config_map(name, json!({"salt": "much"}))])
}

/// Waits until the operator is degraded by one namespace alone, and says who can change that.
async fn until_named(operators: &Operators, namespaces: &TestNamespaces) {
    let TestNamespaces { a, b, .. } = namespaces;
    let permission = format!("get, list, watch on recipes.test.operetta.dev in namespace {b}");
    let ready = || operators.http("/readyz/cook?verbose");
    let is_named = |(code, body): &(u16, String)| *code == 503 && body.contains(&permission);
    let (_, body) = eventually(&permission, ready, is_named).await;
    for words in ["Role", "within_namespaces", "--namespaces", "the other namespaces are"] {
        assert!(body.contains(words), "{words}: {body}");
    }
    assert!(!body.contains(&format!("in namespace {a}")), "{body}");
    assert_eq!(operators.http("/readyz").await.0, 200, "a reported reason is enough");
    let (_, metrics) = operators.http("/metrics").await;
    for (namespace, is_up) in [(a, 1), (b, 0)] {
        let line = format!(
            "operetta_namespace_up{{operator=\"cook\",watched_namespace=\"{namespace}\"}} {is_up}"
        );
        assert!(metrics.lines().any(|shown| shown == line), "{line}: {metrics}");
    }
    let (_, page) = operators.http("/ui/operators/cook").await;
    assert!(page.contains(b.as_str()), "{page}");
}

#[operetta_harness::test(server)]
async fn one_namespace_is_reconciled_from_the_start_while_another_may_not_be_read() {
    const USER: &str = "one-of-two";
    let (world, config) = World::that_enforces_rbac(USER).await;
    let namespaces = world.create_namespaces().await;
    let TestNamespaces { a, b, .. } = &namespaces;
    allow_within(&world, a, USER, &[cook(&namespaces)]).await;
    for namespace in [a, b] {
        world.create_in(namespace, RECIPE, named("early")).await;
    }
    let operators = start(&world, &config, &namespaces).await;
    world.until_in(a, RECIPE, "early", is_ready).await;
    assert_cook_works(&world, &namespaces).await;
    until_named(&operators, &namespaces).await;
    let (_, parents) = operators.http("/api/v1/operators/cook/parents").await;
    assert!(parents.contains("early"), "{parents}");
    assert!(world.get_in(b, RECIPE, "early").await["status"].is_null());

    allow_within(&world, b, USER, &[cook(&namespaces)]).await;
    world.until_in(b, RECIPE, "early", is_ready).await;
    until_state(&operators, "cook", true).await;
    let (_, metrics) = operators.http("/metrics").await;
    let up = format!("operetta_namespace_up{{operator=\"cook\",watched_namespace=\"{b}\"}} 1");
    assert!(metrics.contains(&up), "{metrics}");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_restart_after_the_end_of_one_namespace_does_not_stop_the_other() {
    const USER: &str = "tenants";
    let (world, config) = World::that_enforces_rbac(USER).await;
    let namespaces = world.create_namespaces().await;
    let TestNamespaces { a, b, .. } = &namespaces;
    for namespace in [a, b] {
        allow_within(&world, namespace, USER, &[cook(&namespaces)]).await;
    }
    let operators = start(&world, &config, &namespaces).await;
    for namespace in [a, b] {
        world.create_in(namespace, RECIPE, named("early")).await;
        world.until_in(namespace, RECIPE, "early", is_ready).await;
    }
    world.delete(NAMESPACE, b).await;
    world.until(NAMESPACE, b, "the namespace gone", Value::is_null).await;
    assert_cook_works(&world, &namespaces).await;
    operators.stop().await;

    let operators = start(&world, &config, &namespaces).await;
    assert_cook_works(&world, &namespaces).await;
    until_named(&operators, &namespaces).await;
    operators.stop().await;
}

/// `cook` with children in both namespaces.
fn spread(namespaces: &TestNamespaces) -> OperatorConfig {
    use k8s_openapi::api::core::v1::ConfigMap;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply().delete_with_finalizer())
        .within_namespaces(both(namespaces))
}

fn refused(plan: &FaultPlan, resource: &str, namespace: &str) {
    let rule = Rule::new(Fault::refuse(403)).verb("list").verb("watch");
    plan.add(rule.resource(resource).namespace(namespace));
}

async fn set_children(world: &World, namespace: &str, children: &[Value]) {
    let patch = Patch::Merge(json!({"spec": {"children": children}}));
    world.api_in(RECIPE, Some(namespace)).patch("r", &<_>::default(), &patch).await.unwrap();
}

#[operetta_harness::test]
async fn deletions_wait_in_the_namespace_alone_that_is_not_listed() {
    let world = World::new().await;
    let (namespaces, plan) = (world.create_namespaces().await, FaultPlan::new());
    let TestNamespaces { a, b, .. } = &namespaces;
    let start = async || {
        let connector = world.cluster.connector_through(&plan);
        let register =
            |all: SupervisorBuilder| all.register(spread(&namespaces), recipe::handler());
        world.start_over(connector, register).await
    };
    let child = |name: &str, namespace: &str| {
        let mut child = config_map(name, json!({"salt": "much"}));
        child["metadata"]["namespace"] = json!(namespace);
        child
    };
    let [here, there] = [child("here", a), child("there", b)];
    let operators = start().await;
    world.create_in(a, RECIPE, recipe("r", &[here.clone(), there.clone()])).await;
    world.until_in(a, RECIPE, "r", is_ready).await;
    operators.stop().await;

    // At the start.
    refused(&plan, "configmaps", b);
    let operators = start().await;
    set_children(&world, a, &[there]).await;
    world.until_in(a, CONFIG_MAP, "here", Value::is_null).await;
    assert!(world.get_in(b, CONFIG_MAP, "there").await.is_object());
    set_children(&world, a, std::slice::from_ref(&here)).await;
    world.until_in(a, CONFIG_MAP, "here", Value::is_object).await;
    assert!(world.get_in(b, CONFIG_MAP, "there").await.is_object());
    plan.heal();
    world.until_in(b, CONFIG_MAP, "there", Value::is_null).await;
    until_state(&operators, "cook", true).await;

    // Later.
    set_children(&world, a, &[here, child("there", b)]).await;
    world.until_in(a, RECIPE, "r", is_ready).await;
    let closed = Rule::new(Fault::CloseWatch).verb("watch").resource("configmaps");
    plan.add(closed.namespace(b).times(1));
    refused(&plan, "configmaps", b);
    let note = Patch::Merge(json!({"metadata": {"annotations": {"of": "somebody"}}}));
    let children = world.api_in(CONFIG_MAP, Some(b));
    children.patch("there", &<_>::default(), &note).await.unwrap();
    until_state(&operators, "cook", false).await;
    set_children(&world, a, &[]).await;
    world.until_in(a, CONFIG_MAP, "here", Value::is_null).await;
    let waits = |parent: &Value| {
        let message = condition(parent, "Ready")["message"].clone();
        message.as_str().is_some_and(|it| it.contains("its deletion waits until all objects"))
    };
    world.until_in(a, RECIPE, "r", waits).await;
    assert!(world.get_in(b, CONFIG_MAP, "there").await.is_object());
    plan.heal();
    world.until_in(b, CONFIG_MAP, "there", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_type_that_may_not_be_read_in_one_namespace_is_reported_by_the_parents_there() {
    let world = World::new().await;
    let (namespaces, plan) = (world.create_namespaces().await, FaultPlan::new());
    let TestNamespaces { a, b, .. } = &namespaces;
    refused(&plan, "configmaps", b);
    for namespace in [a, b] {
        world.create_in(namespace, RECIPE, named("early")).await;
    }
    let cook = cook(&namespaces);
    let register = |all: SupervisorBuilder| all.register_any(cook);
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    world.until_in(a, RECIPE, "early", is_ready).await;
    let is_reported =
        |parent: &Value| condition(parent, "Ready")["reason"] == "ChildTypeUnavailable";
    let parent = world.until_in(b, RECIPE, "early", is_reported).await;
    let message = condition(&parent, "Ready")["message"].to_string();
    assert!(
        message.contains(&format!("get, list, watch on configmaps in namespace {b}")),
        "{message}"
    );
    assert!(world.get_in(b, CONFIG_MAP, "early").await.is_null(), "its handler was not called");
    // Later parents are treated alike.
    for namespace in [a, b] {
        world.create_in(namespace, RECIPE, named("late")).await;
    }
    world.until_in(a, RECIPE, "late", is_ready).await;
    world.until_in(b, RECIPE, "late", is_reported).await;
    plan.heal();
    for name in ["early", "late"] {
        world.until_in(b, RECIPE, name, is_ready).await;
    }
    until_state(&operators, "cook", true).await;
    operators.stop().await;
}

/// Its list gets no answer, which is neither a success nor a failure yet.
#[operetta_harness::test]
async fn a_namespace_whose_list_hangs_does_not_delay_the_others() {
    let world = World::new().await;
    let (namespaces, plan) = (world.create_namespaces().await, FaultPlan::new());
    let TestNamespaces { a, b, .. } = &namespaces;
    let held = Rule::new(Fault::HoldRequest).verb("list").resource("configmaps").namespace(b);
    let held = plan.add(held);
    for namespace in [a, b] {
        world.create_in(namespace, RECIPE, named("early")).await;
    }
    let cook = cook(&namespaces);
    let register = |all: SupervisorBuilder| all.register_any(cook);
    let operators = world.launch_over(world.cluster.connector_through(&plan), register).await;
    world.until_in(a, RECIPE, "early", is_ready).await;
    assert!(world.get_in(b, RECIPE, "early").await["status"].is_null());
    held.end();
    world.until_in(b, RECIPE, "early", is_ready).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn another_configuration_takes_effect_while_one_namespace_may_not_be_read() {
    let world = World::new().await;
    let (namespaces, plan) = (world.create_namespaces().await, FaultPlan::new());
    let TestNamespaces { a, b, outside } = &namespaces;
    refused(&plan, "recipes", b);
    for namespace in [a, b, outside] {
        world.create_in(namespace, RECIPE, named("early")).await;
    }
    let within = |namespaces: &[&String]| {
        let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
        let names = namespaces.iter().map(|name| name.as_str());
        OperatorConfig::new("cook", parent)
            .child::<k8s_openapi::api::core::v1::ConfigMap>(ChildConfig::apply())
            .within_namespaces(names)
    };
    let register = |all: SupervisorBuilder| all.register(within(&[a]), recipe::handler());
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    world.until_in(a, RECIPE, "early", is_ready).await;
    let registrar = operators.running().registrar();
    registrar.reconfigure(within(&[a, b, outside])).await.unwrap();
    world.until_in(outside, RECIPE, "early", is_ready).await;
    until_state(&operators, "cook", false).await;
    registrar.reconfigure(within(&[b, outside])).await.unwrap();
    let gone = json!({"spec": {"children": []}});
    let recipes = world.api_in(RECIPE, Some(outside));
    recipes.patch("early", &<_>::default(), &Patch::Merge(gone)).await.unwrap();
    world.until_in(outside, CONFIG_MAP, "early", Value::is_null).await;
    let late = object(RECIPE, parent_with_child());
    world.api_in(RECIPE, Some(a)).create(&<_>::default(), &late).await.unwrap();
    plan.heal();
    world.until_in(b, RECIPE, "early", is_ready).await;
    until_state(&operators, "cook", true).await;
    assert!(world.get_in(a, RECIPE, "r").await["status"].is_null(), "it was left");
    operators.stop().await;
}
