//! Servers of another version than the operator was built for. Its types have a field that the server does not know, or
//! the server has fields, defaults and versions of types that the operator does not know.

use std::time::Duration;

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Kind, Operators, SERVICE, World, condition, eventually},
};

const DISH: Kind = Kind("test.operetta.dev/v1", "Dish", "dishes");

/// A type with one field, or with these properties of a later version of the server.
fn definition(later: Value) -> CustomResourceDefinition {
    let mut spec = json!({"salt": {"type": "string"}});
    for (name, property) in later.as_object().unwrap() {
        spec[name] = property.clone();
    }
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": spec},
    }});
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "dishes.test.operetta.dev"},
        "spec": {
            "group": "test.operetta.dev", "scope": "Namespaced",
            "names": {"kind": DISH.1, "plural": DISH.2},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}],
        },
    }))
    .unwrap()
}

fn dish(spec: Value) -> Value {
    json!({"apiVersion": DISH.0, "kind": DISH.1, "metadata": {"name": "d"}, "spec": spec})
}

/// The operator of the recipes, with dishes as children.
async fn start(world: &World) -> Operators {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let child = K8sType::namespaced(DISH.0, DISH.1, DISH.2);
    let config = OperatorConfig::new("cook", parent)
        .child_of_type(child, ChildConfig::apply())
        .with_error_backoff(Duration::from_millis(100), Duration::from_secs(1));
    world.start(|builder| builder.register(config, recipe::handler())).await
}

async fn writes_of_dishes(world: &World) -> usize {
    let requests = world.our_requests().await.into_iter();
    requests.filter(|it| it.is_write() && it.resource == DISH.2).count()
}

/// Whether the condition `Synced` of a parent is false and says this.
fn names(text: &str) -> impl Fn(&Value) -> bool {
    move |parent| {
        let synced = condition(parent, "Synced");
        synced["status"] == "False" && synced["message"].as_str().unwrap_or_default().contains(text)
    }
}

/// Server-side apply answers 500, which looks like a failure of the server: what the user reads names the field.
#[operetta_harness::test(server)]
async fn a_field_of_a_later_kubernetes_fails_its_child_alone_and_is_named() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await;
    let mut later = config_map("later", json!({"salt": "much"}));
    later["fieldOfTheFuture"] = json!({"sugar": "little"});
    world.apply(RECIPE, recipe("r", &[later, config_map("known", json!({}))])).await;
    world.until(RECIPE, "r", "the field named", names(".fieldOfTheFuture: ")).await;
    world.until(CONFIG_MAP, "known", "the other child", |child| !child.is_null()).await;
    assert_eq!(world.get(CONFIG_MAP, "later").await, Value::Null);
    let known = ["later", "known"].map(|name| config_map(name, json!({})));
    world.apply(RECIPE, recipe("r", &known)).await;
    world.until_synced(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "later").await["kind"], "ConfigMap");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_field_that_the_server_does_not_know_is_written_once_it_does() {
    let world = World::new().await;
    operetta::supervisor::install_crds(&world.client, &[definition(json!({}))]).await.unwrap();
    let operators = start(&world).await;
    world.apply(RECIPE, recipe("r", &[dish(json!({"salt": "much"}))])).await;
    world.until_synced(RECIPE, "r").await;
    let wanted = json!({"salt": "much", "sugar": "little"});
    world.apply(RECIPE, recipe("r", &[dish(wanted.clone())])).await;
    world.until(RECIPE, "r", "the field named", names(".spec.sugar: ")).await;
    let later = definition(json!({"sugar": {"type": "string"}}));
    operetta::supervisor::install_crds(&world.client, &[later]).await.unwrap();
    world.until(DISH, "d", "the field", |dish| dish["spec"] == wanted).await;
    world.until_synced(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_default_of_a_later_server_is_no_difference_and_stays() {
    let world = World::that_logs_requests().await;
    operetta::supervisor::install_crds(&world.client, &[definition(json!({}))]).await.unwrap();
    let operators = start(&world).await;
    world.apply(RECIPE, recipe("r", &[dish(json!({"salt": "much"}))])).await;
    world.until_synced(RECIPE, "r").await;
    operators.stop().await;
    let later = definition(json!({"sugar": {"type": "string", "default": "none"}}));
    operetta::supervisor::install_crds(&world.client, &[later]).await.unwrap();
    world.until_published(|text| text.contains("sugar")).await;
    let operators = start(&world).await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    assert_eq!(writes_of_dishes(&world).await, 1);
    // A change of another field keeps it too.
    world.apply(RECIPE, recipe("r", &[dish(json!({"salt": "little"}))])).await;
    let both = json!({"salt": "little", "sugar": "none"});
    world.until(DISH, "d", "both fields", |dish| dish["spec"] == both).await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    assert_eq!(writes_of_dishes(&world).await, 2);
    operators.stop().await;
}

fn service(spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec})
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
