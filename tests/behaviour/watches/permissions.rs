//! The operators work with their generated permissions, and report a missing one.

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::{
    cluster::connector_to,
    world::{
        CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ECHO, NAMESPACE, Operators, POD, SERVICE, TEMP, World,
        condition, eventually,
    },
};

/// The user of the operators in these tests, with the permissions of its role.
const USER: &str = "operator";
const ROLE: &str = "operetta-under-test";

async fn start_with(world: &World, config: kube::Config, rules: &[PolicyRule]) -> Operators {
    let binding = json!({
        "metadata": {"name": ROLE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ROLE},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
    });
    bind(world, rules).await;
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
    let register = |builder| operators::register_all(builder, operators::all());
    world.start_over(connector_to(config), register).await
}

/// Gives the user exactly these permissions.
async fn bind(world: &World, rules: &[PolicyRule]) {
    let body = json!({"metadata": {"name": ROLE}, "rules": rules});
    world.apply(CLUSTER_ROLE, body).await;
}

/// The generated permissions of the operators of this repository.
fn generated() -> Vec<PolicyRule> {
    operetta::cli::permissions(&operators::all()).unwrap().rules()
}

/// The same without one verb on one resource.
fn generated_without(verb: &str, resource: &str) -> Vec<PolicyRule> {
    let rules = generated().into_iter().flat_map(|rule| {
        let resources = rule.resources.clone().unwrap_or_default();
        let rule = move |name: String| PolicyRule {
            resources: Some(vec![name.clone()]),
            verbs: rule.verbs.iter().filter(|v| name != resource || *v != verb).cloned().collect(),
            ..rule.clone()
        };
        resources.into_iter().map(rule)
    });
    rules.filter(|rule| !rule.verbs.is_empty()).collect()
}

fn echo_server(service_name: &str) -> Value {
    json!({"metadata": {"name": "a"}, "spec": {"serviceName": service_name}})
}

#[operetta_harness::test(server)]
async fn a_type_that_may_not_be_watched_degrades_one_operator_until_it_may() {
    let (world, config) = World::that_enforces_rbac(USER).await;
    let operators = start_with(&world, config, &generated_without("watch", "services")).await;
    let (code, body) = operators.http("/readyz").await;
    assert_eq!(code, 200, "a stated reason is enough for the process: {body}");
    let (code, body) = operators.http("/readyz/echo-server?verbose").await;
    assert_eq!(code, 503);
    let of_operator = body.lines().find(|line| line.starts_with("[-]operator/echo-server"));
    for part in ["missing permission", "watch", "services"] {
        assert!(of_operator.is_some_and(|line| line.contains(part)), "{part}: {body}");
    }
    assert_eq!(operators.http("/readyz/temp-namespace").await.0, 200);
    let name = format!("{}-temp", world.namespace);
    world.apply(TEMP, json!({"metadata": {"name": name}, "spec": {"deleteAfter": "1h"}})).await;
    world.until_ready(TEMP, &name).await;
    assert!(world.get(NAMESPACE, &name).await.is_object());
    world.apply(ECHO, echo_server("x")).await;

    bind(&world, &generated()).await;
    let is_healed = |(code, _): &(u16, String)| *code == 200;
    eventually("the operator healed", || operators.http("/readyz/echo-server"), is_healed).await;
    world.until_synced(ECHO, "a").await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_forbidden_write_is_reported_on_the_parent_until_it_is_allowed() {
    let (world, config) = World::that_enforces_rbac(USER).await;
    let operators = start_with(&world, config, &generated_without("create", "services")).await;
    world.apply(ECHO, echo_server("x")).await;
    let is_reported = |parent: &Value| condition(parent, "Ready")["status"] == "False";
    let parent = world.until(ECHO, "a", "the condition", is_reported).await;
    let message = condition(&parent, "Ready")["message"].as_str().unwrap().to_owned();
    for part in ["services", "forbidden", "create"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(world.get(POD, "a").await.is_object(), "the other child is written");
    assert!(world.get(SERVICE, "a").await.is_null());

    bind(&world, &generated()).await;
    world.until_synced(ECHO, "a").await;
    assert!(world.get(SERVICE, "a").await.is_object());
    operators.stop().await;
}
