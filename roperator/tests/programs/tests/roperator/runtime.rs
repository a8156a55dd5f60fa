//! An operator on a runtime of the program.

use std::sync::mpsc;

use roperator::{
    config::{ChildConfig, ClientConfig, OperatorConfig},
    handler::{SyncRequest, SyncResponse},
    k8s_types::{core::v1::ConfigMap, define_type},
    runner::start_operator_with_runtime,
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::world::World;

fn config() -> OperatorConfig {
    let [api_version, kind, plural] = ["programs.operetta.dev/v1", "Tree", "trees"];
    let parent = define_type(api_version.to_owned(), kind.to_owned(), plural.to_owned());
    OperatorConfig::new("on-a-runtime", parent).with_child(ConfigMap, ChildConfig::replace())
}

#[operetta_harness::test]
fn an_operator_runs_on_a_runtime_until_its_handle_is_dropped() {
    let runtime = Runtime::new().unwrap();
    let world = runtime.block_on(World::new());
    let namespace = runtime.block_on(world.namespace("runtime"));
    let config = config().within_namespace(&*namespace).expose_health(false).expose_metrics(false);
    let (dropped, ended) = mpsc::channel();
    let held = HeldUntilTheEnd(dropped);
    let sync = move |request: &SyncRequest| {
        let HeldUntilTheEnd(_) = &held;
        let metadata = json!({"name": request.parent.name()});
        let mut response = SyncResponse::new(json!({"phase": "Running"}));
        response.add_child(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"},
        }))?;
        Ok(response)
    };
    let client = ClientConfig::from_kubeconfig("on-a-runtime").unwrap();
    let handle = start_operator_with_runtime(&runtime, config, client, sync).unwrap();
    assert!(handle.is_active());
    runtime.block_on(async {
        let collection = format!("/apis/programs.operetta.dev/v1/namespaces/{namespace}/trees");
        let parent = json!({
            "apiVersion": "programs.operetta.dev/v1", "kind": "Tree", "metadata": {"name": "a"},
        });
        world.create(&collection, parent).await;
        let child = format!("/api/v1/namespaces/{namespace}/configmaps/a");
        world.until(&child, "the child", |child| child["data"]["a"] == "b").await;
    });
    handle.shutdown_now();
    ended.recv().unwrap();
    runtime.block_on(world.delete(&format!("/api/v1/namespaces/{namespace}")));
}

/// Sends when the handler is dropped, which is when the operator has ended.
struct HeldUntilTheEnd(mpsc::Sender<()>);

impl Drop for HeldUntilTheEnd {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[operetta_harness::test]
fn what_cannot_be_used_is_an_error_at_the_start() {
    let runtime = Runtime::new().unwrap();
    let sync = |_: &SyncRequest| Ok(SyncResponse::new(json!({})));
    let client = || ClientConfig::from_kubeconfig("on-a-runtime").unwrap();
    let start = |config, client| start_operator_with_runtime(&runtime, config, client, sync);

    let taken = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = start(config().server_port(port), client()).unwrap_err().to_string();
    assert!(error.contains(&format!("port {port}")), "{error}");

    let config = OperatorConfig { operator_name: "My Operator".to_owned(), ..config() };
    let error = start(config, client()).unwrap_err().to_string();
    assert!(error.contains("`My Operator`"), "{error}");
}
