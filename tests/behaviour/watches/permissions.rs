//! The operators work with their generated permissions, and report a missing one.

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::{
    cluster::{Request, connector_to},
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
    operators::rbac::permissions(&operators::all()).unwrap().rules()
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

/// The requests of the operators since `before`.
async fn asked(world: &World, before: usize) -> Vec<Request> {
    let requests = world.cluster.requests().await.into_iter().skip(before);
    requests.filter(|request| request.user == USER).collect()
}

#[operetta_harness::test]
async fn the_generated_permissions_are_sufficient() {
    let (world, config) = World::that_enforces_rbac(USER).await;
    let before = world.cluster.requests().await.len();
    let operators = start_with(&world, config, &generated()).await;
    // Create, change, repair, and remove.
    world.apply(ECHO, echo_server("one")).await;
    world.until_synced(ECHO, "a").await;
    world.apply(ECHO, echo_server("two")).await;
    let is_new = |child: &Value| child["metadata"]["labels"]["app.kubernetes.io/name"] == "two";
    for kind in [POD, SERVICE] {
        world.until(kind, "a", "a child of the new name", is_new).await;
    }
    world.until_synced(ECHO, "a").await;
    world.delete(SERVICE, "a").await;
    world.until(SERVICE, "a", "the service again", Value::is_object).await;
    world.until_synced(ECHO, "a").await;
    let path = format!("/api/v1/operators/echo-server/parents/{}/a?events=1", world.namespace);
    assert_eq!(operators.http(&path).await.0, 200);
    world.delete(ECHO, "a").await;
    for kind in [ECHO, POD, SERVICE] {
        world.until(kind, "a", "nothing of that name", Value::is_null).await;
    }
    let name = format!("{}-temp", world.namespace);
    world.apply(TEMP, json!({"metadata": {"name": name}, "spec": {"deleteAfter": "1s"}})).await;
    let is_over = |parent: &Value| parent["status"]["deletedAt"].is_string();
    world.until(TEMP, &name, "deletedAt", is_over).await;
    operators.stop().await;
    let asked = asked(&world, before).await;
    assert!(asked.iter().any(Request::is_write), "the requests are seen");
    let denied: Vec<_> = asked.iter().filter(|request| request.code == 403).collect();
    assert!(denied.is_empty(), "{denied:#?}");
}

#[operetta_harness::test]
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

#[operetta_harness::test]
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

#[operetta_harness::test]
async fn events_of_kubernetes_are_shown_once_they_may_be_read() {
    let (world, config) = World::that_enforces_rbac(USER).await;
    let operators = start_with(&world, config, &generated_without("list", "events")).await;
    world.apply(ECHO, echo_server("x")).await;
    world.until_synced(ECHO, "a").await;
    let path = format!("/api/v1/operators/echo-server/parents/{}/a?events=1", world.namespace);
    let events = || async {
        let (code, body) = operators.http(&path).await;
        assert_eq!(code, 200, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()["events"].clone()
    };
    // The API server may still know the permissions of the test before.
    let is_refused = |events: &Value| events["errors"].as_array().map(Vec::len) == Some(1);
    let refused = eventually("the refusal", events, is_refused).await;
    let why = refused["errors"][0].as_str().unwrap();
    assert!(why.contains("missing permission: list on events") && why.contains(USER), "{why}");
    bind(&world, &generated()).await;
    eventually("the Events", events, |events| events.get("errors").is_none()).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_forbidden_pause_is_answered_with_the_message_of_the_server() {
    let (world, config) = World::that_enforces_rbac(USER).await;
    let operators = start_with(&world, config, &generated_without("patch", "echoservers")).await;
    world.apply(ECHO, echo_server("x")).await;
    world.until_synced(ECHO, "a").await;
    let path = format!("/api/v1/operators/echo-server/parents/{}/a/pause", world.namespace);
    let (code, body) = operators.post(&path).await;
    assert_eq!(code, 403, "{body}");
    for part in ["\"Forbidden\"", "echoservers", "patch"] {
        assert!(body.contains(part), "{part}: {body}");
    }
    bind(&world, &generated()).await;
    let allowed = |(code, _): &(u16, String)| *code == 200;
    eventually("the pause", || operators.post(&path), allowed).await;
    operators.stop().await;
}
