//! Ports of the six integration tests of roperator, with a handler that keeps one child with a field of
//! the parent's spec.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{operator::IntoHandler, prelude::*};
use serde_json::{Value, json};

use crate::{
    recipe::RECIPE,
    world::{CONFIG_MAP, Operators, World, condition, eventually},
};

fn config(children: ChildConfig) -> OperatorConfig {
    OperatorConfig::new("cook", K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2))
        .child::<ConfigMap>(children)
        .with_error_backoff(Duration::from_millis(20), Duration::from_millis(100))
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn one_child(request: &SyncRequest) -> Result<SyncResponse> {
    let (name, spec) = (request.parent.name(), request.parent.field("spec").unwrap_or_default());
    let children = request.children::<ConfigMap>().len();
    let child = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": name}},
        "data": {"dish": spec["dish"]},
    });
    Ok(SyncResponse::status(json!({"taste": format!("{children} children")})).child(child))
}

fn parent(name: &str, dish: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"dish": dish}})
}

async fn with<Form>(children: ChildConfig, handler: impl IntoHandler<Form>) -> (World, Operators) {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(config(children), handler)).await;
    (world, operators)
}

async fn until_child(world: &World, what: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    world.until(CONFIG_MAP, "a", what, is_right).await
}

#[operetta_harness::test]
async fn a_parent_gets_its_child_which_goes_with_it() {
    let (world, operators) = with(ChildConfig::recreate(), one_child).await;
    world.create(RECIPE, parent("a", "soup")).await;
    let parent = world.until_ready(RECIPE, "a").await;
    assert_eq!(parent["status"]["taste"], "1 children");
    let child = world.get(CONFIG_MAP, "a").await;
    assert_eq!(child["data"], json!({"dish": "soup"}));
    assert_eq!(child["metadata"]["labels"]["app.kubernetes.io/name"], "a");
    world.delete(RECIPE, "a").await;
    until_child(&world, "no child", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_error_is_retried_again_and_again_and_holds_up_no_other_parent() {
    let errors = Arc::new(AtomicU64::new(0));
    let counter = errors.clone();
    let handler = move |request: &SyncRequest| {
        if request.parent.name() == "bad" {
            counter.fetch_add(1, SeqCst);
            return Err(Error::msg("mock error"));
        }
        one_child(request)
    };
    let (world, operators) = with(ChildConfig::recreate(), handler).await;
    world.create(RECIPE, parent("bad", "soup")).await;
    let count = || async { errors.load(SeqCst) };
    let before = eventually("several errors", count, |count| *count >= 3).await;
    world.create(RECIPE, parent("a", "soup")).await;
    world.until_ready(RECIPE, "a").await;
    assert_eq!(world.get(CONFIG_MAP, "a").await["data"], json!({"dish": "soup"}));
    eventually("further errors", count, |count| *count > before).await;
    assert!(world.get(CONFIG_MAP, "bad").await.is_null());
    let parent = world.get(RECIPE, "bad").await;
    assert_eq!(condition(&parent, "Ready")["message"], "mock error");
    operators.stop().await;
}

struct FinalizedAfterRetries(Arc<AtomicU64>);

impl Handler for FinalizedAfterRetries {
    type Parent = Object;
    type Status = Value;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        one_child(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, _: &SyncRequest) -> Result<FinalizeResponse> {
        let calls = self.0.fetch_add(1, SeqCst);
        let status = json!({"taste": format!("{calls} calls")});
        let again = FinalizeResponse::retry_after(Duration::from_millis(5));
        Ok(if calls < 3 { again.with_status(status) } else { FinalizeResponse::done() })
    }
}

#[operetta_harness::test]
async fn finalize_is_called_again_until_it_is_done() {
    let calls = Arc::new(AtomicU64::new(0));
    let handler = FinalizedAfterRetries(calls.clone());
    let (world, operators) = with(ChildConfig::recreate(), handler).await;
    world.create(RECIPE, parent("a", "soup")).await;
    let parent = world.until_ready(RECIPE, "a").await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]));
    world.delete(RECIPE, "a").await;
    world.until(RECIPE, "a", "the parent gone", Value::is_null).await;
    until_child(&world, "no child", Value::is_null).await;
    assert!(calls.load(SeqCst) > 3);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_deleted_child_is_created_anew() {
    let (world, operators) = with(ChildConfig::recreate(), one_child).await;
    world.create(RECIPE, parent("a", "soup")).await;
    world.until_ready(RECIPE, "a").await;
    let old = world.get(CONFIG_MAP, "a").await;
    world.delete(CONFIG_MAP, "a").await;
    let is_new =
        |child: &Value| child.is_object() && child["metadata"]["uid"] != old["metadata"]["uid"];
    let new = until_child(&world, "a new child", is_new).await;
    assert_eq!(new["data"], old["data"]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_that_changes_on_delete_changes_when_it_is_deleted() {
    let (world, operators) = with(ChildConfig::on_delete(), one_child).await;
    world.create(RECIPE, parent("a", "soup")).await;
    world.until_ready(RECIPE, "a").await;
    let old = world.get(CONFIG_MAP, "a").await;
    world.patch(RECIPE, "a", json!({"spec": {"dish": "salad"}})).await;
    world.until_ready(RECIPE, "a").await;
    assert_eq!(world.get(CONFIG_MAP, "a").await, old);
    world.delete(CONFIG_MAP, "a").await;
    until_child(&world, "the new field", |child| child["data"]["dish"] == "salad").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_resync_calls_the_handler_although_nothing_changed() {
    let calls = Arc::new(AtomicU64::new(0));
    let counter = calls.clone();
    let handler = move |_: &SyncRequest| {
        let call = counter.fetch_add(1, SeqCst);
        let response = SyncResponse::status(json!({"taste": "same"}));
        Ok(if call < 5 { response.resync_after(Duration::from_millis(5)) } else { response })
    };
    let (world, operators) = with(ChildConfig::recreate(), handler).await;
    world.create(RECIPE, parent("a", "soup")).await;
    let count = || async { calls.load(SeqCst) };
    eventually("five resyncs", count, |count| *count >= 6).await;
    operators.stop().await;
}
