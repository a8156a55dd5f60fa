//! Programs that run until a signal, from their start to their end: `run_operator_with`, and `run` within a
//! runtime. The test runs in a process of its own, because the signal would end the operators of other tests too.

use std::{
    env,
    process::{Command, id},
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, api::PostParams};
use operetta::{
    prelude::*,
    supervisor::{Connect, RunError, run_operator_with},
    testkit::{TestCluster, eventually},
};
use operetta_harness::Folder;
use serde_json::json;

/// A `Secret` beside each `ConfigMap`.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let metadata = json!({"name": request.parent.name()});
    Ok(SyncResponse::new()
        .child(json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})))
}

/// Creates a parent and waits for its child.
async fn create(cluster: &TestCluster, name: &str) {
    let parent: ConfigMap = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    let parents: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    parents.create(&PostParams::default(), &parent).await.unwrap();
    let children: Api<Secret> = Api::default_namespaced(cluster.client());
    let look = || async { children.get_opt(name).await.unwrap() };
    let child = eventually("the child", look, Option::is_some).await.unwrap();
    assert_eq!(child.metadata.owner_references.unwrap()[0].name, name);
}

/// Set in the process of the test.
const INSIDE: &str = "OPERETTA_TEST_RUN_OPERATOR_INSIDE";
const TEST: &str = "run_operator::one_call_runs_an_operator_until_a_signal_ends_it";

#[test]
fn one_call_runs_an_operator_until_a_signal_ends_it() {
    if env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        return runtime.unwrap().block_on(until_signals_end_it());
    }
    let mut inside = Command::new(env::current_exe().unwrap());
    let status = inside.args(["--exact", TEST, "--nocapture"]).env(INSIDE, "1").status().unwrap();
    assert!(status.success());
}

fn send(signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &id().to_string()]).status().unwrap();
    assert!(sent.success());
}

async fn until_signals_end_it() {
    let cluster = TestCluster::start();
    let served = cluster.server().serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let folder = Folder::new();
    let kubeconfig = folder.join("kubeconfig");
    served.write_kubeconfig(&kubeconfig).unwrap();
    let connect = Connect::kubeconfig_file(&kubeconfig);
    let config = || OperatorConfig::of::<ConfigMap>("cook").child::<Secret>(ChildConfig::apply());

    let (connect_to, cook) = (connect.clone(), config());
    // It blocks its thread.
    let program = tokio::task::spawn_blocking(|| {
        std::thread::spawn(|| run_operator_with(connect_to, cook, sync)).join()
    });
    create(&cluster, "a").await;
    send("TERM");
    program.await.unwrap().unwrap().unwrap();

    for (signal, name) in [("TERM", "b"), ("INT", "c")] {
        let supervisor = Supervisor::builder().connect_to(connect.clone());
        let program = tokio::spawn(supervisor.register(config(), sync).run());
        create(&cluster, name).await;
        send(signal);
        program.await.unwrap().unwrap();
    }

    // Of a handler that never returns the end waits for seconds, and another signal does not.
    let (called, calls) = std::sync::mpsc::channel();
    let hang = move |_: &SyncRequest| -> Result<SyncResponse> {
        let _ = called.send(());
        loop {
            std::thread::park();
        }
    };
    let supervisor = Supervisor::builder().connect_to(connect);
    let program = tokio::spawn(supervisor.register(config(), hang).run());
    tokio::task::spawn_blocking(move || calls.recv()).await.unwrap().unwrap();
    send("TERM");
    send("INT");
    let error = program.await.unwrap().unwrap_err();
    assert!(matches!(error, RunError::Abandoned), "{error}");
    served.stop().await;
}
