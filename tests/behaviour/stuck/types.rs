//! Types that the API server does not serve, or cannot convert.

use futures::{FutureExt, future::LocalBoxFuture};
use operetta::prelude::*;
use serde_json::{Value, json};

use super::{
    cause::{Cause, Group, by_others, commanded},
    handler::{self, E},
    rig::{Place, Rig},
};
use crate::world::{CRD, ECHO, Kind, World, eventually, object};

const WIDGETS: &str = "widgets.test.operetta.dev";
const GADGETS: &str = "gadgets.test.operetta.dev";
const NEW_GADGET: Kind = Kind("test.operetta.dev/v2", "Gadget", "gadgets");

/// Removes the types.
pub(super) async fn clear(world: &World) {
    for name in [WIDGETS, GADGETS] {
        let _ = world.api_in(CRD, None).delete(name, &<_>::default()).await;
    }
}

/// A type with two versions.
fn definition(kind: &str, plural: &str) -> Value {
    let version = |name: &str, is_stored: bool| {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({
            "name": name, "served": true, "storage": is_stored,
            "schema": {"openAPIV3Schema": schema},
        })
    };
    json!({
        "metadata": {"name": format!("{plural}.test.operetta.dev")},
        "spec": {
            "group": "test.operetta.dev", "scope": "Namespaced",
            "names": {
                "kind": kind, "plural": plural, "singular": kind.to_lowercase(),
                "listKind": format!("{kind}List"),
            },
            "versions": [version("v1", false), version("v2", true)],
        },
    })
}

async fn install(world: &World, body: Value) {
    let name = body["metadata"]["name"].as_str().unwrap().to_owned();
    let definitions = world.api_in(CRD, None);
    definitions.create(&<_>::default(), &object(CRD, body)).await.unwrap();
    let is_established =
        |it: &Value| crate::world::condition(it, "Established")["status"] == "True";
    let look = || async { serde_json::to_value(definitions.get(&name).await.unwrap()).unwrap() };
    eventually("the type", look, is_established).await;
}

async fn start(child: (&str, &str)) -> Rig {
    let world = World::new().await;
    clear(&world).await;
    let name = format!("{}.test.operetta.dev", child.1);
    world.until(CRD, &name, "no such type", Value::is_null).await;
    let mut body = definition(child.0, child.1);
    if child.1 == "gadgets" {
        let client = json!({"url": "https://127.0.0.1:1/"});
        let webhook = json!({"clientConfig": client, "conversionReviewVersions": ["v1"]});
        body["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": webhook});
    }
    install(&world, body).await;
    if child.1 == "gadgets" {
        // As if the operator had made it.
        let labels = json!({"app.kubernetes.io/managed-by": E.operator});
        let old = object(NEW_GADGET, json!({"metadata": {"name": "old", "labels": labels}}));
        world.api(NEW_GADGET).create(&<_>::default(), &old).await.unwrap();
    }
    let ty = K8sType::namespaced("test.operetta.dev/v1", child.0, child.1);
    let config = handler::small_waiter(ty);
    let operators = world.start(|builder| builder.register(config, sync)).await;
    Rig::new(world, operators)
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(_: &SyncRequest) -> Result<SyncResponse> {
    Ok(SyncResponse::status(json!({})))
}

fn widgets() -> LocalBoxFuture<'static, Rig> {
    start(("Widget", "widgets")).boxed_local()
}

fn gadgets() -> LocalBoxFuture<'static, Rig> {
    start(("Gadget", "gadgets")).boxed_local()
}

async fn parent(place: &Place<'_>) {
    place.create(ECHO, handler::waiting("none")).await;
}

pub(super) fn group() -> Group {
    let causes: Vec<Cause> = vec![
        commanded(
            "A version of a type that is no longer served",
            &["waiter", WIDGETS, "version v1"],
            |place| {
                async {
                    let mut versions = definition("Widget", "widgets")["spec"]["versions"].take();
                    versions[0]["served"] = json!(false);
                    place
                        .rig
                        .world
                        .patch(CRD, WIDGETS, json!({"spec": {"versions": versions}}))
                        .await;
                    parent(place).await;
                }
                .boxed_local()
            },
        )
        .of(E),
        by_others(
            "A type that is gone",
            &["waiter", WIDGETS, "version v1"],
            |place| {
                async {
                    place.rig.world.delete(CRD, WIDGETS).await;
                    parent(place).await;
                }
                .boxed_local()
            },
            |place| {
                async {
                    let is_gone = Value::is_null;
                    place.rig.world.until(CRD, WIDGETS, "no such type", is_gone).await;
                    install(&place.rig.world, definition("Widget", "widgets")).await;
                }
                .boxed_local()
            },
        )
        .of(E),
    ];
    Group { start: widgets, causes }
}

pub(super) fn converted() -> Group {
    let causes = vec![
        commanded(
            "A conversion whose webhook does not answer",
            &["conversion webhook of Gadget"],
            |place| parent(place).boxed_local(),
        )
        .of(E),
    ];
    Group { start: gadgets, causes }
}
