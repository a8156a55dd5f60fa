//! A forbidden namespace or scope does not affect operators elsewhere.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{
    operator::AnyOperator, prelude::*, supervisor::SupervisorBuilder,
    testkit::internals::board::OperatorState,
};
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use super::{TestNamespaces, echo_server, parent_with_child};
use crate::{
    cluster::{Request, connector_to},
    recipe::{self, RECIPE},
    world::{
        CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CONFIG_MAP, ECHO, Kind, Operators, POD, SERVICE, World,
        eventually, is_ready, is_synced,
    },
};

const RBAC: &str = "rbac.authorization.k8s.io";
const ROLE: Kind = Kind("rbac.authorization.k8s.io/v1", "Role", "roles");
const ROLE_BINDING: Kind = Kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings");

/// Gives a user the generated permissions of operators in a namespace, and nothing else.
pub(super) async fn allow_within(
    world: &World,
    namespace: &str,
    user: &str,
    operators: &[AnyOperator],
) {
    let rules = operetta::cli::permissions(operators).unwrap().rules_within(namespace);
    let role = json!({"metadata": {"name": "operetta"}, "rules": rules});
    world.create_in(namespace, ROLE, role).await;
    let binding = json!({
        "metadata": {"name": "operetta"},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "operetta"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}],
    });
    world.create_in(namespace, ROLE_BINDING, binding).await;
}

/// `cook` in `a`, and `other` with the same type of children everywhere.
fn mixed(namespaces: &TestNamespaces) -> impl Fn(SupervisorBuilder) -> SupervisorBuilder + use<> {
    let a = namespaces.a.clone();
    move |all| {
        let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
        let cook = OperatorConfig::new("cook", parent)
            .child::<ConfigMap>(ChildConfig::apply())
            .within_namespace(&a);
        let other = OperatorConfig::new("other", operators::echo_server::config().parent().clone())
            .child::<ConfigMap>(ChildConfig::apply());
        let nothing = |_: &SyncRequest| -> Result<SyncResponse> { Ok(SyncResponse::new()) };
        all.register(cook, recipe::handler()).register(other, nothing)
    }
}

/// Asserts that a deleted child is created again, and an undesired one deleted.
pub(super) async fn assert_cook_works(world: &World, namespaces: &TestNamespaces) {
    let a = &namespaces.a;
    world.create_in(a, RECIPE, parent_with_child()).await;
    world.until_in(a, RECIPE, "r", is_ready).await;
    let child = world.until_in(a, CONFIG_MAP, "c", Value::is_object).await;
    world.api_in(CONFIG_MAP, Some(a)).delete("c", &<_>::default()).await.unwrap();
    let is_another =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != child["metadata"]["uid"];
    world.until_in(a, CONFIG_MAP, "c", is_another).await;
    let (params, none) = (<_>::default(), json!({"spec": {"children": []}}));
    let recipes = world.api_in(RECIPE, Some(a));
    recipes.patch("r", &params, &kube::api::Patch::Merge(none)).await.unwrap();
    world.until_in(a, CONFIG_MAP, "c", Value::is_null).await;
    recipes.delete("r", &<_>::default()).await.unwrap();
    world.until_in(a, RECIPE, "r", Value::is_null).await;
}

pub(super) async fn until_state(operators: &Operators, operator: &str, is_running: bool) {
    let state = || async { operators.running().board().operator(operator).unwrap().state };
    let what = format!("{operator} is running: {is_running}");
    eventually(&what, state, |state| (*state == OperatorState::Running) == is_running).await;
}

/// The shown cache of the type that both need.
async fn shown(operators: &Operators) -> Value {
    let (_, body) = operators.http("/api/v1/cache/configmaps").await;
    serde_json::from_str::<Value>(&body).unwrap()["cache"].take()
}

/// Both before the first list and after it.
#[operetta_harness::test]
async fn an_operator_of_one_namespace_works_while_the_watch_of_all_namespaces_is_forbidden() {
    let world = World::new().await;
    let namespaces = world.create_namespaces().await;
    let plan = FaultPlan::new();
    let forbid = || {
        let rule = Rule::new(Fault::refuse(403)).verb("list").verb("watch");
        plan.add(rule.resource("configmaps").across_namespaces())
    };
    forbid();
    let operators =
        world.start_over(world.cluster.connector_through(&plan), mixed(&namespaces)).await;
    for _ in 0..2 {
        until_state(&operators, "other", false).await;
        until_state(&operators, "cook", true).await;
        assert_cook_works(&world, &namespaces).await;
        let (code, body) = operators.http("/readyz/other?verbose").await;
        assert!(code == 503 && body.contains("get, list, watch on configmaps"), "{body}");
        let (code, body) = operators.http("/readyz/cook?verbose").await;
        assert!(code == 200 && body.contains("[+]type/configmaps ok"), "{body}");
        let cache = shown(&operators).await;
        assert_eq!(cache["namespaces"][0]["error"]["permission"], cache["error"]["permission"]);
        assert_eq!(cache["namespaces"][1]["namespace"], json!(namespaces.a), "{cache}");
        assert_eq!(cache["namespaces"][1]["error"], Value::Null, "{cache}");

        plan.heal();
        until_state(&operators, "other", true).await;
        until_state(&operators, "cook", true).await;
        assert_cook_works(&world, &namespaces).await;
        let cache = shown(&operators).await;
        assert!(cache["namespaces"].is_null() && cache["error"].is_null(), "{cache}");

        // The watch ends with the permission at the next event.
        plan.add(Rule::new(Fault::CloseWatch).verb("watch").resource("configmaps").times(1));
        forbid();
        world.create_in(&namespaces.a, RECIPE, parent_with_child()).await;
        world.until_in(&namespaces.a, RECIPE, "r", is_ready).await;
        world.api_in(RECIPE, Some(&namespaces.a)).delete("r", &<_>::default()).await.unwrap();
        world.until_in(&namespaces.a, CONFIG_MAP, "c", Value::is_null).await;
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_namespace_that_another_operator_may_not_watch_holds_no_deletion() {
    let world = World::new().await;
    let namespaces = world.create_namespaces().await;
    let plan = FaultPlan::new();
    let forbidden = Rule::new(Fault::refuse(403)).verb("list").resource("configmaps");
    plan.add(forbidden.namespace(&namespaces.b));
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let cook = OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply().delete_with_finalizer())
        .within_namespace(&namespaces.a);
    let other = OperatorConfig::new("other", operators::echo_server::config().parent().clone())
        .child::<ConfigMap>(ChildConfig::apply())
        .within_namespace(&namespaces.b);
    let nothing = |_: &SyncRequest| -> Result<SyncResponse> { Ok(SyncResponse::new()) };
    let register =
        |all: SupervisorBuilder| all.register(cook, recipe::handler()).register(other, nothing);
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    let is_degraded = |(code, _): &(u16, String)| *code == 503;
    eventually("the other one degraded", || operators.http("/readyz/other"), is_degraded).await;
    world.create_in(&namespaces.a, RECIPE, parent_with_child()).await;
    world.until_in(&namespaces.a, RECIPE, "r", is_ready).await;
    let (params, none) = (<_>::default(), json!({"spec": {"children": []}}));
    let api = world.api_in(RECIPE, Some(&namespaces.a));
    api.patch("r", &params, &kube::api::Patch::Merge(none)).await.unwrap();
    world.until_in(&namespaces.a, CONFIG_MAP, "c", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_forbidden_namespace_degrades_only_its_operator_until_it_is_allowed() {
    // Another user than that of other tests on this server, which have given it more permissions.
    const USER: &str = "restricted";
    let (world, config) = World::that_enforces_rbac(USER).await;
    let namespaces = world.create_namespaces().await;
    let both = || {
        let echo = operators::echo_server::operator();
        let echo = echo.within_namespaces([&namespaces.a]);
        let cook = recipe::config("cook").within_namespace(&namespaces.b);
        [echo, AnyOperator::new(cook, recipe::handler())]
    };
    let allow = async |namespace| allow_within(&world, namespace, USER, &both()).await;
    allow(&namespaces.a).await;
    let [echo, cook] = both();
    let register = |all: SupervisorBuilder| all.register_any(echo).register_any(cook);
    let before = world.cluster.requests().await.len();
    let operators = world.start_over(connector_to(config), register).await;
    assert_eq!(operators.http("/readyz").await.0, 200, "a reported reason is enough");
    assert_eq!(operators.http("/readyz/echo-server").await.0, 200);
    // Each refused type is named.
    let expected = format!("get, list, watch on pods in namespace {}", namespaces.b);
    let verbose = || operators.http("/readyz/cook?verbose");
    let names_it = |(code, body): &(u16, String)| *code == 503 && body.contains(&expected);
    let (_, body) = eventually(&expected, verbose, names_it).await;
    assert!(!body.contains(&format!("namespace {}:", namespaces.a)), "{body}");
    world.create_in(&namespaces.a, ECHO, echo_server()).await;
    world.until_in(&namespaces.a, ECHO, "e", is_synced).await;
    for kind in [POD, SERVICE] {
        assert!(world.get_in(&namespaces.a, kind, "e").await.is_object());
    }
    let denied = |one: &Request| {
        one.user == USER && one.code == 403 && one.namespace() == Some(&namespaces.a)
    };
    let requests = world.cluster.requests().await.split_off(before);
    let denied: Vec<_> = requests.iter().filter(|one| denied(one)).collect();
    assert!(denied.is_empty(), "{denied:#?}");

    allow(&namespaces.b).await;
    world.create_in(&namespaces.b, RECIPE, parent_with_child()).await;
    let state = || async { operators.running().board().operator("cook").unwrap().state };
    eventually("the operator healed", state, |state| *state == OperatorState::Running).await;
    world.until_in(&namespaces.b, CONFIG_MAP, "c", Value::is_object).await;
    operators.stop().await;
}

/// The same with real permissions.
#[operetta_harness::test(server)]
async fn a_missing_cluster_role_of_one_operator_degrades_no_other_that_has_a_role() {
    const USER: &str = "half-restricted";
    let (world, config) = World::that_enforces_rbac(USER).await;
    let namespaces = world.create_namespaces().await;
    let cook = recipe::config("cook").within_namespace(&namespaces.a);
    let cook = AnyOperator::new(cook, recipe::handler());
    allow_within(&world, &namespaces.a, USER, std::slice::from_ref(&cook)).await;
    let echo = operators::echo_server::operator();
    let register = |all: SupervisorBuilder| all.register_any(cook).register_any(echo);
    let operators = world.start_over(connector_to(config), register).await;
    until_state(&operators, "echo-server", false).await;
    until_state(&operators, "cook", true).await;
    assert_cook_works(&world, &namespaces).await;
    let (code, body) = operators.http("/readyz/echo-server?verbose").await;
    let permission = "get, list, watch on pods";
    assert!(code == 503 && body.contains(permission), "{body}");

    let echo = [operators::echo_server::operator()];
    let rules = operetta::cli::permissions(&echo).unwrap().rules();
    let name = format!("{}-mixed", world.namespace);
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": name}, "rules": rules})).await;
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": USER}],
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
    until_state(&operators, "echo-server", true).await;
    until_state(&operators, "cook", true).await;
    assert_cook_works(&world, &namespaces).await;
    world.create_in(&namespaces.b, ECHO, echo_server()).await;
    world.until_in(&namespaces.b, ECHO, "e", is_synced).await;
    operators.stop().await;
}
