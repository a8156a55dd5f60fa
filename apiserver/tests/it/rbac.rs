//! Roles count where the server is started with them: users may do what is bound to them, and nobody else may.

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client,
    api::{DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use operetta_apiserver::{Server, User};
use serde_json::{Value, json};

use crate::common::{
    api, config_map, config_maps, create, define_widgets, object, refusal, widgets,
};

const RBAC: &str = "rbac.authorization.k8s.io/v1";

fn strict() -> (Server, Client) {
    let server = Server::builder().rbac().start();
    let client = server.client();
    (server, client)
}

async fn bind(client: &Client, kind: &str, role: &str, subject: &Value) {
    let bindings = api(client, RBAC, "RoleBinding", "default");
    let binding = json!({
        "metadata": {"name": role.replace(':', "-")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [subject],
    });
    create(&bindings, binding).await;
}

#[operetta_harness::test]
async fn a_user_may_do_what_is_bound_to_them_at_once_and_no_longer_than_it_is() {
    let (server, admin) = strict();
    let jane = config_maps(&server.client_of(User::new("jane")));
    let (code, reason, message) = refusal(jane.list(&ListParams::default()).await);
    assert_eq!((code, reason.as_str()), (403, "Forbidden"));
    let expected = "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API \
                    group \"\" in the namespace \"default\"";
    assert_eq!(message, expected);
    bind(&admin, "ClusterRole", "view", &json!({"kind": "User", "name": "jane"})).await;
    jane.list(&ListParams::default()).await.unwrap();
    let refused = jane.create(&PostParams::default(), &object(config_map("a", "1"))).await;
    assert_eq!(refusal(refused).0, 403);
    let bindings = api(&admin, RBAC, "RoleBinding", "default");
    bindings.delete("view", &kube::api::DeleteParams::default()).await.unwrap();
    assert_eq!(refusal(jane.list(&ListParams::default()).await).0, 403);
}

#[operetta_harness::test]
async fn an_apply_or_an_update_that_creates_needs_the_permission_to_create() {
    let (server, admin) = strict();
    let roles = api(&admin, RBAC, "Role", "default");
    let rule = |verbs: Value| json!({"apiGroups": ["", "coordination.k8s.io"], "resources": ["configmaps", "leases"], "verbs": verbs});
    let writer = |verbs| json!({"metadata": {"name": "writer"}, "rules": [rule(verbs)]});
    create(&roles, writer(json!(["patch", "update"]))).await;
    bind(&admin, "Role", "writer", &json!({"kind": "User", "name": "jane"})).await;
    let jane = server.client_of(User::new("jane"));
    let apply = async || {
        let params = PatchParams::apply("jane");
        config_maps(&jane).patch("a", &params, &Patch::Apply(object(config_map("a", "1")))).await
    };
    let leases = api(&jane, "coordination.k8s.io/v1", "Lease", "default");
    let update = async || {
        let lease = object(json!({"metadata": {"name": "a"}}));
        leases.replace("a", &PostParams::default(), &lease).await
    };
    let (code, _, message) = refusal(apply().await);
    let expected = "configmaps \"a\" is forbidden: User \"jane\" cannot create resource \"configmaps\" in \
                    API group \"\" in the namespace \"default\"";
    assert_eq!((code, message.as_str()), (403, expected));
    assert_eq!(refusal(update().await).0, 403);
    let whole = writer(json!(["patch", "update", "create"]));
    roles.patch("writer", &PatchParams::default(), &Patch::Merge(whole)).await.unwrap();
    apply().await.unwrap();
    update().await.unwrap();
    let less = writer(json!(["patch", "update"]));
    roles.patch("writer", &PatchParams::default(), &Patch::Merge(less)).await.unwrap();
    apply().await.expect("it exists");
}

#[operetta_harness::test]
async fn a_service_account_is_a_user_in_the_groups_of_its_namespace() {
    let (server, admin) = strict();
    let robot = config_maps(&server.client_of(User::service_account("default", "robot")));
    assert_eq!(refusal(robot.list(&ListParams::default()).await).0, 403);
    let group = json!({"kind": "Group", "name": "system:serviceaccounts:default"});
    bind(&admin, "ClusterRole", "edit", &group).await;
    create(&robot, config_map("a", "1")).await;
    let stranger = config_maps(&server.client_of(User::service_account("other", "robot")));
    assert_eq!(refusal(stranger.get("a").await).0, 403);
}

#[operetta_harness::test]
async fn roles_do_not_count_unless_they_are_to() {
    let server = Server::start();
    let jane = config_maps(&server.client_of(User::new("jane")));
    create(&jane, config_map("a", "1")).await;
}

#[operetta_harness::test]
async fn a_refused_request_is_recorded_with_what_it_was_about() {
    let (server, _) = strict();
    let jane = config_maps(&server.client_of(User::new("jane")));
    refusal(jane.get("a").await);
    let record = server.requests().await.pop().unwrap();
    assert_eq!((record.verb.as_str(), record.resource.as_str()), ("get", "configmaps"));
    assert_eq!((record.user.as_str(), record.status), ("jane", 403));
}

/// Waits until a cluster role has so many rules.
async fn rules(roles: &Api<DynamicObject>, name: &str, number: usize) -> Vec<Value> {
    let params = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = roles.watch(&params, "0").await.unwrap().boxed();
    while let Some(event) = events.try_next().await.unwrap() {
        if let WatchEvent::Added(role) | WatchEvent::Modified(role) = event {
            let found = role.data["rules"].as_array().cloned().unwrap_or_default();
            if found.len() == number {
                return found;
            }
        }
    }
    unreachable!("the watch continues")
}

#[operetta_harness::test]
async fn a_role_that_is_made_of_others_follows_them() {
    let (_server, admin) = strict();
    let roles = api(&admin, RBAC, "ClusterRole", "");
    let rule = |resource: &str| json!({"apiGroups": ["example.com"], "resources": [resource], "verbs": ["get"]});
    let part = |name: &str| {
        json!({
            "metadata": {"name": name, "labels": {"part": "of-sum"}},
            "rules": [rule(name), rule("shared")],
        })
    };
    let sum = json!({
        "metadata": {"name": "sum"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "of-sum"}}]},
        "rules": [rule("own")],
    });
    create(&roles, part("b")).await;
    create(&roles, sum).await;
    assert_eq!(rules(&roles, "sum", 2).await, [rule("b"), rule("shared")]);
    create(&roles, part("a")).await;
    assert_eq!(rules(&roles, "sum", 3).await, [rule("a"), rule("shared"), rule("b")]);
    roles.delete("b", &kube::api::DeleteParams::default()).await.unwrap();
    assert_eq!(rules(&roles, "sum", 2).await, [rule("a"), rule("shared")]);
    let unlabel = json!({"metadata": {"labels": null}});
    roles.patch("a", &PatchParams::default(), &Patch::Merge(unlabel)).await.unwrap();
    assert_eq!(rules(&roles, "sum", 0).await, Vec::<Value>::new());
}

#[operetta_harness::test]
async fn rights_that_a_custom_type_adds_to_a_default_role_are_had_by_all_who_have_that_role() {
    let (server, admin) = strict();
    define_widgets(&admin).await;
    bind(&admin, "ClusterRole", "admin", &json!({"kind": "User", "name": "jane"})).await;
    let jane = widgets(&server.client_of(User::new("jane")));
    assert_eq!(refusal(jane.list(&ListParams::default()).await).0, 403);
    let roles = api(&admin, RBAC, "ClusterRole", "");
    let before = roles.get("admin").await.unwrap();
    let number = before.data["rules"].as_array().unwrap().len();
    let role = json!({
        "metadata": {
            "name": "widget-viewer",
            "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"},
        },
        "rules": [{"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["list"]}],
    });
    create(&roles, role).await;
    rules(&roles, "admin", number + 1).await;
    jane.list(&ListParams::default()).await.unwrap();
}

#[operetta_harness::test]
async fn the_roles_count_that_were_restored() {
    let (server, admin) = strict();
    let jane = config_maps(&server.client_of(User::new("jane")));
    let backup = server.backup();
    bind(&admin, "ClusterRole", "view", &json!({"kind": "User", "name": "jane"})).await;
    jane.list(&ListParams::default()).await.unwrap();
    server.restore(&backup);
    create(&config_maps(&admin), config_map("a", "1")).await;
    assert_eq!(refusal(jane.list(&ListParams::default()).await).0, 403);
}

#[operetta_harness::test]
async fn all_servers_of_a_process_have_the_initial_roles() {
    for _ in 0..2 {
        let (_server, admin) = strict();
        let roles =
            api(&admin, RBAC, "ClusterRole", "").list(&ListParams::default()).await.unwrap();
        let bindings = api(&admin, RBAC, "ClusterRoleBinding", "");
        let bindings = bindings.list(&ListParams::default()).await.unwrap();
        assert!(roles.items.len() > 60 && bindings.items.len() > 45);
    }
}
