//! A program needs the permissions that `operetta::manifests` generates for it, and no others.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::api::{
    core::v1::{ConfigMap, Namespace, Secret},
    rbac::v1::PolicyRule,
};
use kube::{Api, Client, api::ListParams};
use operetta::{manifests::Permissions, prelude::*, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use crate::{
    cleaner::Cleaner,
    cluster::{Request, connector_to},
    recipe::{RECIPE, acting, config_map, recipe},
    world::{
        CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CONFIG_MAP, EVENT, Kind, NAMESPACE, Operators, SECRET,
        World, eventually,
    },
};

const RBAC: &str = "rbac.authorization.k8s.io";
const ROLE: Kind = Kind("rbac.authorization.k8s.io/v1", "Role", "roles");
const ROLE_BINDING: Kind = Kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings");

/// An operator with a finalizer and all strategies.
fn keeper() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("keeper", parent)
        .child::<ConfigMap>(ChildConfig::apply().adopting().recreate_if_immutable())
        .child::<Secret>(ChildConfig::recreate())
        .with_error_backoff(Duration::from_millis(20), Duration::from_millis(40))
}

/// Gives a user these permissions by this kind of role, and waits until they are in force.
async fn allow(world: &World, kind: Kind, user: (&str, &kube::Config), rules: &[PolicyRule]) {
    let binding_kind = if kind.1 == ROLE.1 { ROLE_BINDING } else { CLUSTER_ROLE_BINDING };
    let (user, config) = user;
    world.apply(kind, json!({"metadata": {"name": user}, "rules": rules})).await;
    let binding = json!({
        "metadata": {"name": user},
        "roleRef": {"apiGroup": RBAC, "kind": kind.1, "name": user},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}],
    });
    world.apply(binding_kind, binding).await;
    let client = Client::try_from(config.clone()).unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client, &world.namespace);
    let is_allowed = || async { api.list(&ListParams::default().limit(1)).await.is_ok() };
    eventually("the permissions", is_allowed, |is_allowed| *is_allowed).await;
}

fn secret(value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"value": value}})
}

/// Adoption, creation, changes, deletions, finalization, failures with Events, and a look at them.
async fn live(world: &World, operators: &Operators, cleaner: &Cleaner, further: &[Value]) {
    world.create(CONFIG_MAP, config_map("c", json!({"salt": "foreign"}))).await;
    let with = |salt: &str, value: &str| {
        let children = [config_map("c", json!({"salt": salt})), secret(value)];
        recipe("r", &[&children, further].concat())
    };
    for (salt, value) in [("some", "YQ=="), ("more", "Yg==")] {
        world.apply(RECIPE, with(salt, value)).await;
        world.until(CONFIG_MAP, "c", salt, |child| child["data"]["salt"] == salt).await;
        world.until(SECRET, "s", value, |child| child["data"]["value"] == value).await;
        world.until_ready(RECIPE, "r").await;
    }
    world.apply(RECIPE, recipe("r", &[])).await;
    for kind in [CONFIG_MAP, SECRET] {
        let name = if kind.1 == CONFIG_MAP.1 { "c" } else { "s" };
        world.until(kind, name, "the end of the child", Value::is_null).await;
    }
    world.apply(RECIPE, with("some", "YQ==")).await;
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the end of the parent", Value::is_null).await;
    assert!(cleaner.finalized(world, "r") > 0);

    world.apply(RECIPE, acting("bad", "fail")).await;
    let is_repeated = |events: &Vec<Value>| events.iter().any(|event| event["series"].is_object());
    eventually("a repeated Event", || world.list(EVENT), is_repeated).await;
    let path = format!("/api/v1/operators/keeper/parents/{}/bad?events=1", world.namespace);
    assert_eq!(operators.http(&path).await.0, 200);
}

/// What the operators of this user have requested.
async fn asked(world: &World, user: &str) -> Vec<Request> {
    world.our_requests().await.into_iter().filter(|request| request.user == user).collect()
}

/// `verb resource` of every rule.
fn granted(rules: &[PolicyRule]) -> BTreeSet<String> {
    let of_rule = |rule: &PolicyRule| {
        let resources = rule.resources.iter().flatten();
        resources
            .flat_map(|name| rule.verbs.iter().map(move |verb| format!("{verb} {name}")))
            .collect()
    };
    rules.iter().flat_map(|rule| -> Vec<String> { of_rule(rule) }).collect()
}

fn used(requests: &[Request]) -> BTreeSet<String> {
    let used = |Request { verb, resource, subresource, .. }: &Request| match subresource.as_str() {
        "" => format!("{verb} {resource}"),
        sub => format!("{verb} {resource}/{sub}"),
    };
    requests.iter().map(used).collect()
}

/// No request was refused, and no verb was granted in vain. Reads of single objects only follow
/// conflicts. Verbs that other requests need beside their own have no request.
fn assert_sufficient_and_needed(requests: &[Request], rules: &[PolicyRule]) {
    let denied: Vec<_> = requests.iter().filter(|request| request.code == 403).collect();
    assert!(denied.is_empty(), "{denied:#?}");
    let has_no_request = |granted: &&String| {
        granted.starts_with("get ")
            || (granted.starts_with("create ") && *granted != "create events")
            || granted.ends_with("/finalizers")
    };
    let (granted, used) = (granted(rules), used(requests));
    let unused: Vec<_> = granted.difference(&used).filter(|it| !has_no_request(it)).collect();
    assert!(unused.is_empty(), "{unused:?} of {granted:#?}");
}

#[operetta_harness::test(server)]
async fn an_operator_of_all_namespaces_uses_its_generated_permissions_and_needs_no_more() {
    const USER: &str = "keeper";
    let (world, config) = World::that_enforces_rbac(USER).await;
    let name = format!("{}-child", world.namespace);
    let keeper = keeper().child::<Namespace>(ChildConfig::apply().delete_with_finalizer());
    let rules = Permissions::of([&keeper]).unwrap().with_web_endpoint().rules();
    allow(&world, CLUSTER_ROLE, (USER, &config), &rules).await;
    let cleaner = Cleaner::default();
    let register = |all: SupervisorBuilder| all.register(keeper, cleaner.clone());
    let operators = world.start_over(connector_to(config), register).await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    live(&world, &operators, &cleaner, &[namespace]).await;
    world.until(NAMESPACE, &name, "the end of the namespace", Value::is_null).await;
    operators.stop().await;
    assert_sufficient_and_needed(&asked(&world, USER).await, &rules);
}

#[operetta_harness::test(server)]
async fn an_operator_of_one_namespace_needs_only_the_role_there() {
    const USER: &str = "keeper-within";
    let (world, config) = World::that_enforces_rbac(USER).await;
    let keeper = keeper().within_namespace(&world.namespace);
    let permissions = Permissions::of([&keeper]).unwrap().with_web_endpoint();
    assert!(permissions.rules().is_empty());
    let rules = permissions.rules_within(&world.namespace);
    allow(&world, ROLE, (USER, &config), &rules).await;
    let cleaner = Cleaner::default();
    let register = |all: SupervisorBuilder| all.register(keeper, cleaner.clone());
    let operators = world.start_over(connector_to(config), register).await;
    live(&world, &operators, &cleaner, &[]).await;
    operators.stop().await;
    assert_sufficient_and_needed(&asked(&world, USER).await, &rules);
}
