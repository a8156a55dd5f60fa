//! Missing permissions. The operators are a user who lacks three.

use futures::{FutureExt, future::LocalBoxFuture};
use k8s_openapi::api::core::v1::Service;
use operetta::prelude::*;
use serde_json::{Value, json};

use super::{
    cause::{Group, commanded},
    handler::{self, E, GUEST},
    rig::Rig,
};
use crate::{
    cluster::connector_to,
    recipe,
    world::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ECHO, TEMP, World},
};

const USER: &str = "cooks";
const ROLE: &str = "stuck-cooks";

pub(super) fn group() -> Group {
    let causes = vec![
        commanded(
            "No permission to create children",
            &["Secret", "/s", "patch secrets"],
            |place| {
                async { place.parent(&[super::refused::secret(json!({}))]).await }.boxed_local()
            },
        ),
        commanded(
            "No permission to list children",
            &["EchoServer", "/e", "list services"],
            |place| {
                async { drop(place.create(ECHO, handler::waiting("none")).await) }.boxed_local()
            },
        )
        .of(E),
        commanded(
            "No permission to write the status",
            &["TempNamespace", "patch tempnamespaces.example.operetta.dev/status"],
            |place| {
                async {
                    let parent = handler::guest(&place.namespace, &place.namespace);
                    place.create(TEMP, parent).await;
                }
                .boxed_local()
            },
        )
        .of(GUEST),
    ];
    Group { start, causes }
}

fn start() -> LocalBoxFuture<'static, Rig> {
    async {
        let (world, config) = World::that_enforces_rbac(USER).await;
        let subject =
            json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER});
        let role =
            json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ROLE});
        let metadata = json!({"name": ROLE});
        world.apply(CLUSTER_ROLE, json!({"metadata": metadata, "rules": rules()})).await;
        let binding = json!({"metadata": metadata, "roleRef": role, "subjects": [subject]});
        world.apply(CLUSTER_ROLE_BINDING, binding).await;
        let register = |builder: operetta::supervisor::SupervisorBuilder| {
            let services = K8sType::of::<Service>();
            builder
                .register(handler::small_cook(), recipe::handler())
                .register(handler::small_waiter(services), echo)
                .register(handler::host(), handler::arrange)
        };
        let operators = world.start_over(connector_to(config), register).await;
        Rig::new(world, operators)
    }
    .boxed_local()
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn echo(_: &SyncRequest) -> Result<SyncResponse> {
    Ok(SyncResponse::status(json!({})))
}

/// All that the operators need but to create Secrets, to read Services, and to write the status of `TempNamespaces`.
fn rules() -> Value {
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let reading = ["get", "list", "watch"];
    let writing = ["get", "list", "watch", "create", "patch", "update", "delete"];
    let parents = ["echoservers", "tempnamespaces"];
    json!([
        rule("", &["configmaps"], &writing),
        rule("", &["secrets"], &reading),
        rule("test.operetta.dev", &["recipes", "recipes/status", "recipes/finalizers"], &writing),
        rule("example.operetta.dev", &parents, &writing),
        rule("example.operetta.dev", &["echoservers/status"], &writing),
        rule(
            "example.operetta.dev",
            &["echoservers/finalizers", "tempnamespaces/finalizers"],
            &writing
        ),
        rule("events.k8s.io", &["events"], &["create", "patch"]),
    ])
}
