//! The chart on a cluster, which may be the real one: the program works with the permissions of its service account.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use k8s_openapi::api::{
    authentication::v1::TokenRequest,
    batch::v1::Job,
    core::v1::{Secret, ServiceAccount},
};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, PostParams},
    config::Kubeconfig,
    core::GroupVersionKind,
};
use operetta_controlplane::Binaries;
use serde_json::json;

use crate::{
    chapters::program,
    cluster::{Cluster, new_folder, or_ignore},
};

const NAMESPACE: &str = "website-system";
const DEADLINE: Duration = Duration::from_secs(30);

#[operetta_harness::test(server)]
async fn with_the_permissions_of_its_chart_the_program_works_and_cleans_up() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let folder = new_folder();
    install_chart(cluster.kubeconfig(), &folder);
    write_kubeconfig(&cluster, &folder.join("kubeconfig")).await;
    let _program = Program::start(&folder);

    let websites = websites(client.clone());
    let hello: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "example.dev/v1",
        "kind": "Website",
        "metadata": {"name": "hello"},
        "spec": {"html": "<h1>Hello</h1>"},
    }))
    .unwrap();
    // The server serves a new type a little later.
    let create = async || websites.create(&PostParams::default(), &hello).await.is_ok();
    until("the type is served", create).await;
    // Nothing runs here, so the check is not completed, and the website waits for it.
    let waits = async || {
        let website = websites.get("hello").await.unwrap();
        let conditions = website.data["status"]["conditions"].as_array();
        conditions.into_iter().flatten().any(|it| it["reason"] == "Waiting")
    };
    until("the website waits for its check", waits).await;
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let jobs: Api<Job> = Api::default_namespaced(client);
    assert!(secrets.get_opt("hello").await.unwrap().is_some());
    assert!(jobs.get_opt("hello-check").await.unwrap().is_some());
    let entry = folder.join("zone/hello.default");
    assert!(entry.is_file());

    websites.delete("hello", &DeleteParams::background()).await.unwrap();
    let is_gone = async || websites.get_opt("hello").await.unwrap().is_none();
    until("the website is gone", is_gone).await;
    assert!(!entry.exists());
}

/// The chart that the program writes.
fn install_chart(kubeconfig: &Path, folder: &Path) {
    let mut written = Command::new(program("in_a_cluster"));
    succeeds(written.args(["manifests", "--helm", "--out"]).arg(folder));
    let mut helm = Command::new(or_ignore(Binaries::find()).program("helm"));
    helm.args(["install", "website"]).arg(folder.join("helm/website"));
    helm.args(["--create-namespace", "--namespace", NAMESPACE]);
    // It writes no files of the user.
    succeeds(helm.arg("--kubeconfig").arg(kubeconfig).env("HOME", env!("CARGO_TARGET_TMPDIR")));
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// That of the administrator, with the token of the service account instead of all else.
async fn write_kubeconfig(cluster: &Cluster, file: &Path) {
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client().await, NAMESPACE);
    let (params, request) = (PostParams::default(), TokenRequest::default());
    let answer = accounts.create_token_request("website", &params, &request).await.unwrap();
    let token = answer.status.unwrap().token;
    let mut kubeconfig = Kubeconfig::read_from(cluster.kubeconfig()).unwrap();
    for user in &mut kubeconfig.auth_infos {
        user.auth_info = Some(serde_json::from_value(json!({"token": token})).unwrap());
    }
    fs::write(file, serde_json::to_string(&kubeconfig).unwrap()).unwrap();
}

fn websites(client: Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.dev", "v1", "Website");
    Api::default_namespaced_with(client, &ApiResource::from_gvk(&kind))
}

/// The program, which ends with the test.
struct Program(Child);

impl Program {
    fn start(folder: &Path) -> Self {
        let zone = folder.join("zone");
        fs::create_dir(&zone).unwrap();
        let mut command = Command::new(program("in_a_cluster"));
        command.env("KUBECONFIG", folder.join("kubeconfig")).env("ZONE", &zone);
        command.args(["--listen", "127.0.0.1:0"]).env_remove("KUBERNETES_SERVICE_HOST");
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < DEADLINE, "in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
