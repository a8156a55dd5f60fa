//! A type that comes back with another scope than the one that its operator declares.

use operetta::{operator::IntoHandler, prelude::*, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use crate::world::{CRD, EVENT, Kind, World, eventually, object};

const CRD_NAME: &str = "pans.test.operetta.dev";
const PAN: Kind = Kind("test.operetta.dev/v1", "Pan", "pans");

fn crd(scope: &str) -> Value {
    json!({
        "metadata": {"name": CRD_NAME},
        "spec": {
            "group": "test.operetta.dev",
            "scope": scope,
            "names": {"kind": "Pan", "plural": "pans", "singular": "pan", "listKind": "PanList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                }}},
            }],
        },
    })
}

/// Creates the type anew, and waits until it is served.
async fn serve(world: &World, scope: &str) {
    world.apply(CRD, crd(scope)).await;
    let is_served = |crd: &Value| {
        let conditions = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|it| it["type"] == "Established" && it["status"] == "True")
    };
    world.until(CRD, CRD_NAME, "the type served", is_served).await;
}

async fn remove(world: &World) {
    world.delete(CRD, CRD_NAME).await;
    world.until(CRD, CRD_NAME, "no such CRD", Value::is_null).await;
}

/// Where an object of the type is, by its scope.
fn place<'a>(world: &'a World, scope: &str) -> Option<&'a str> {
    (scope == "Namespaced").then_some(world.namespace.as_str())
}

async fn create(world: &World, scope: &str, name: &str) {
    let api = world.api_in(PAN, place(world, scope));
    let body = object(PAN, json!({"metadata": {"name": name}}));
    let created = || async { api.create(&<_>::default(), &body).await.is_ok() };
    eventually("the type accepts objects", created, |is_created| *is_created).await;
}

async fn is_reported(declared: K8sType, scopes: [&str; 2], advice: &str) {
    let world = World::new().await;
    let [right, wrong] = scopes;
    serve(&world, right).await;
    let nothing = |_: &SyncRequest| -> Result<SyncResponse> { Ok(SyncResponse::new()) };
    let config = OperatorConfig::new("fryer", declared);
    let register = |all: SupervisorBuilder| all.register(config, nothing.into_handler());
    let operators = world.start(register).await;
    create(&world, right, "first").await;
    let status = || async {
        let found = world.api_in(PAN, place(&world, right)).get_opt("first").await.unwrap();
        serde_json::to_value(found).unwrap()["status"].take()
    };
    eventually("a status", status, Value::is_object).await;
    remove(&world).await;
    serve(&world, wrong).await;
    create(&world, wrong, "second").await;

    let line = "[-]type/pans.test.operetta.dev 1 object cannot be decoded and is ignored";
    let ready = || operators.http("/readyz?verbose");
    eventually(line, ready, |(_, body)| body.contains(line)).await;
    let line = "operetta_cache_undecodable_objects{type=\"pans.test.operetta.dev\"} 1";
    let metrics = || operators.http("/metrics");
    eventually(line, metrics, |(_, body)| body.lines().any(|shown| shown == line)).await;
    let (_, cache) = operators.http("/api/v1/cache/pans.test.operetta.dev").await;
    assert!(cache.contains("second") && cache.contains(advice), "{cache}");
    let is_it = |event: &Value| {
        let note = event["note"].as_str().unwrap_or_default();
        event["reason"] == "Undecodable"
            && event["regarding"]["name"] == "second"
            && note.contains(advice)
    };
    let events = || async {
        // The Event of an object without a namespace is in this one.
        let place = place(&world, wrong).unwrap_or("default");
        let events = world.api_in(EVENT, Some(place)).list(&<_>::default()).await.unwrap();
        events.items.iter().map(|event| serde_json::to_value(event).unwrap()).collect::<Vec<_>>()
    };
    eventually("an Event about the object", events, |events| events.iter().any(is_it)).await;
    remove(&world).await;
    serve(&world, right).await;
    create(&world, right, "third").await;
    let is_well = |(code, body): &(u16, String)| {
        *code == 200 && body.contains("[+]type/pans.test.operetta.dev ok")
    };
    eventually("all well", || operators.http("/readyz/fryer?verbose"), is_well).await;
    operators.stop().await;
    remove(&world).await;
}

#[operetta_harness::test(server)]
async fn parents_without_the_declared_namespace_are_reported() {
    let declared = K8sType::namespaced(PAN.0, PAN.1, PAN.2);
    is_reported(declared, ["Namespaced", "Cluster"], "declare it as cluster-scoped").await;
}

#[operetta_harness::test(server)]
async fn parents_with_a_namespace_that_is_not_declared_are_reported() {
    let declared = K8sType::cluster_scoped(PAN.0, PAN.1, PAN.2);
    is_reported(declared, ["Cluster", "Namespaced"], "declare it as namespaced").await;
}
