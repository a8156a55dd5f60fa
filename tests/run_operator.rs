//! `run_operator_with` from its start to its end. The test has its own process, because the signal that ends it
//! would end the operators of other tests too.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, id};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, api::PostParams};
use operetta::{
    prelude::*,
    supervisor::{Connect, run_operator_with},
    testkit::{TestCluster, eventually},
};
use serde_json::json;

/// A `Secret` beside each `ConfigMap`.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let metadata = json!({"name": request.parent.name()});
    Ok(SyncResponse::new()
        .child(json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})))
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_runs_an_operator_until_a_signal_ends_it() {
    let cluster = TestCluster::start();
    let served = cluster.server().serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let kubeconfig = std::env::temp_dir().join(format!("operetta-run-operator-{}", id()));
    served.write_kubeconfig(&kubeconfig).unwrap();
    let parent: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    let parents: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    parents.create(&PostParams::default(), &parent).await.unwrap();

    let connect = Connect::kubeconfig_file(&kubeconfig);
    let config = OperatorConfig::of::<ConfigMap>("cook").child::<Secret>(ChildConfig::apply());
    // It blocks and has its own runtime.
    let program = std::thread::spawn(|| run_operator_with(connect, config, sync));
    let children: Api<Secret> = Api::default_namespaced(cluster.client());
    let look = || async { children.get_opt("a").await.unwrap() };
    let child = eventually("the child", look, Option::is_some).await.unwrap();
    assert_eq!(child.metadata.owner_references.unwrap()[0].name, "a");

    let sent = Command::new("kill").args(["-s", "TERM", &id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = tokio::task::spawn_blocking(|| program.join()).await.unwrap();
    ended.unwrap().unwrap();
    std::fs::remove_file(&kubeconfig).unwrap();
    served.stop().await;
}
