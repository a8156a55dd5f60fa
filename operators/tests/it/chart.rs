//! The chart on a cluster: it is installed, upgraded and rolled back by the real helm. No child is written, and the
//! certificate of the endpoint is kept.

use std::{collections::BTreeMap, path::Path};

use k8s_openapi::{
    ByteString,
    api::core::v1::{Pod, Secret, Service},
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operators::echo_server::{EchoServer, EchoServerSpec};
use serde_json::json;

use crate::{
    cluster::Cluster,
    definitions::{self, until},
    helm,
    program::Program,
};

fn helm_on(kubeconfig: &Path, arguments: &[&str]) {
    let fixed = ["--kubeconfig", kubeconfig.to_str().unwrap(), "--namespace", "operetta-chart"];
    helm::run(&[arguments, &fixed].concat()).unwrap();
}

/// The operators until all is synced, as a Pod of the Deployment would run them; then the versions of the children.
async fn run(cluster: &Cluster, client: &Client) -> (Option<String>, Option<String>) {
    let echo_servers: Api<EchoServer> = Api::namespaced(client.clone(), "operetta-chart");
    // So that they come from a reconcile of this process.
    let forgotten = Patch::Merge(json!({"status": {"conditions": null}}));
    echo_servers.patch_status("hello", &PatchParams::default(), &forgotten).await.unwrap();
    let kubeconfig = cluster.kubeconfig().to_str().unwrap();
    let mut program = Program::start(&["--cluster", "kubeconfig", "--kubeconfig", kubeconfig]);
    program.ready().await;
    let is_synced = async || {
        let parent = echo_servers.get("hello").await.unwrap();
        let conditions = parent.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().any(|it| it.type_ == "Synced" && it.status == "True")
    };
    until("it is synced", is_synced).await;
    let pod = Api::<Pod>::namespaced(client.clone(), "operetta-chart").get("hello").await;
    let service = Api::<Service>::namespaced(client.clone(), "operetta-chart").get("hello").await;
    assert_eq!(program.stop("TERM").await, Some(0));
    (pod.unwrap().resource_version(), service.unwrap().resource_version())
}

#[operetta_harness::test(server)]
async fn an_upgrade_and_a_rollback_write_no_child() {
    let cluster = Cluster::start().await;
    let (client, kubeconfig) = (cluster.client().await, cluster.kubeconfig().to_owned());
    definitions::remove(&client).await;
    helm_on(&kubeconfig, &["install", "operetta", helm::CHART, "--create-namespace"]);
    let spec = EchoServerSpec { service_name: "hello".to_owned() };
    let echo_servers: Api<EchoServer> = Api::namespaced(client.clone(), "operetta-chart");
    let hello = EchoServer::new("hello", spec);
    // The server serves a new type a little later.
    let create = async || echo_servers.create(&PostParams::default(), &hello).await.is_ok();
    until("the type is served", create).await;
    let before = run(&cluster, &client).await;
    helm_on(&kubeconfig, &["upgrade", "operetta", helm::CHART, "--set", "replicas=2"]);
    assert_eq!(run(&cluster, &client).await, before);
    helm_on(&kubeconfig, &["rollback", "operetta", "1"]);
    assert_eq!(run(&cluster, &client).await, before);
    helm_on(&kubeconfig, &["uninstall", "operetta"]);
    echo_servers.get("hello").await.expect("the CRD stays, and its objects");
    assert_eq!(run(&cluster, &client).await, before);
    definitions::remove(&client).await;
}

#[operetta_harness::test(server)]
async fn an_upgrade_and_a_rollback_keep_the_certificate() {
    let cluster = Cluster::start().await;
    let kubeconfig = cluster.kubeconfig().to_owned();
    let secrets: Api<Secret> = Api::namespaced(cluster.client().await, "operetta-chart");
    let certificate = async || secrets.get_opt("keeper-tls").await.unwrap().map(pair);
    let without_crds = |verb: &str, flags: &[&str]| {
        let fixed = [verb, "keeper", helm::CHART, "--set", "crds.install=false"];
        helm_on(&kubeconfig, &[&fixed, flags].concat());
    };
    without_crds("install", &["--create-namespace"]);
    let made = certificate().await.expect("it is made");
    assert_eq!(made.keys().collect::<Vec<_>>(), ["ca.crt", "tls.crt", "tls.key"]);
    without_crds("upgrade", &["--set", "replicas=2"]);
    assert_eq!(certificate().await.as_ref(), Some(&made));
    helm_on(&kubeconfig, &["rollback", "keeper", "1"]);
    assert_eq!(certificate().await.as_ref(), Some(&made));
    secrets.delete("keeper-tls", &DeleteParams::default()).await.unwrap();
    without_crds("upgrade", &[]);
    let another = certificate().await.expect("it is made again");
    assert_ne!(another["tls.key"], made["tls.key"]);
    helm_on(&kubeconfig, &["uninstall", "keeper"]);
    assert_eq!(certificate().await, None);
}

fn pair(secret: Secret) -> BTreeMap<String, ByteString> {
    secret.data.unwrap_or_default()
}
