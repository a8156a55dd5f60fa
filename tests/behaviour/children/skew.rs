//! An operator and a server of different versions: one has fields or versions of types that the other does not know.

use k8s_openapi::api::core::v1::Service;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, SERVICE, World, condition, eventually},
};

fn service(spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec})
}

/// An operator that is newer than the server.
#[operetta_harness::test(server)]
async fn a_field_that_the_server_does_not_know_is_named_and_holds_no_other_child() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await;
    let new = service(json!({"ports": [{"port": 80}], "ofTheFuture": true}));
    let children = |service: &Value| recipe("r", &[service.clone(), config_map("c", json!({}))]);
    world.apply(RECIPE, children(&new)).await;
    let says = |parent: &Value| condition(parent, "Synced")["message"].as_str().map(str::to_owned);
    let named = |parent: &Value| says(parent).is_some_and(|it| it.contains(".spec.ofTheFuture"));
    let parent = world.until(RECIPE, "r", "what is not known", named).await;
    assert_eq!(condition(&parent, "Synced")["status"], "False", "{parent}");
    world.until(CONFIG_MAP, "c", "the other child", |it| !it.is_null()).await;
    assert_eq!(world.get(SERVICE, "s").await, Value::Null, "nothing is written in part");
    world.apply(RECIPE, children(&service(json!({"ports": [{"port": 80}]})))).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

/// What an older version of a type keeps of a child.
fn as_an_old_type(child: &Service) -> Value {
    let mut child = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": child.spec});
    let spec = child["spec"].as_object_mut().unwrap();
    spec.retain(|field, _| ["ports", "selector", "type", "sessionAffinity"].contains(&&**field));
    child
}

/// Returns its child as it found it, without the fields that its types do not have.
fn keep(request: &SyncRequest) -> Result<SyncResponse> {
    let found = request.children::<Service>().first()?;
    let child = found.map_or_else(|| service(json!({"ports": [{"port": 80}]})), as_an_old_type);
    Ok(SyncResponse::status(json!({})).child(child))
}

/// An operator that is older than the server.
#[operetta_harness::test(server)]
async fn fields_that_the_operator_does_not_know_keep_their_values() {
    let world = World::that_logs_requests().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), keep)).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    let policy = json!({"spec": {"internalTrafficPolicy": "Local"}});
    world.patch(SERVICE, "s", policy).await;
    world.patch(RECIPE, "r", json!({"spec": {"again": true}})).await;
    operators.settled().await;
    let kept = world.get(SERVICE, "s").await;
    assert_eq!(kept["spec"]["internalTrafficPolicy"], "Local");
    let before = kept["metadata"]["resourceVersion"].clone();
    world.patch(RECIPE, "r", json!({"spec": {"again": false}})).await;
    operators.settled().await;
    assert_eq!(world.get(SERVICE, "s").await["metadata"]["resourceVersion"], before);
    operators.stop().await;
}

/// A version that the server serves no more.
#[operetta_harness::test(server)]
async fn a_removed_version_degrades_the_operator_and_is_named() {
    let world = World::new().await;
    let old = K8sType::namespaced("apps/v1beta1", "Deployment", "deployments");
    let operators = world
        .start(|builder| {
            let builder = operators::register_all(builder, operators::all());
            let config = recipe::config("cook").child_of_type(old, ChildConfig::apply());
            builder.register(config, recipe::handler())
        })
        .await;
    let degraded = |(code, body): &(u16, String)| *code == 503 && body.contains("apps/v1beta1");
    let seen = || operators.http("/readyz/cook?verbose");
    let (_, body) = eventually("the operator is degraded", seen, degraded).await;
    assert!(body.contains("does not serve"), "{body}");
    assert_eq!(operators.http("/readyz/echo-server").await.0, 200);
    operators.stop().await;
}
