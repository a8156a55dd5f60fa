//! Inside a cluster: a program finds the API server in its environment, and its account in files
//! that Kubernetes mounts into every Pod.

use std::{fs, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use k8s_openapi::api::{authentication::v1::TokenRequest, core::v1::ServiceAccount};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use operators::NAMESPACE;
use serde::Deserialize;
use serde_json::Value;

use super::{Tenant, owners};
use crate::{
    cluster::{Cluster, new_folder},
    program::{Program, needs_own_mounts, output, output_beside},
};

/// Grants the operators' permissions, and no others, to their account.
async fn grant(cluster: &Cluster) {
    let (_, manifest, _) = output(&["rbac"]).await;
    for document in serde_yaml_ng::Deserializer::from_str(&manifest) {
        let object = DynamicObject::deserialize(document).unwrap();
        let kind = GroupVersionKind::try_from(object.types.as_ref().unwrap()).unwrap();
        let (client, ty) = (cluster.client().await, ApiResource::from_gvk(&kind));
        let api: Api<DynamicObject> = match &object.metadata.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &ty),
            None => Api::all_with(client, &ty),
        };
        let (name, params) = (object.metadata.name.clone().unwrap(), PatchParams::apply("test"));
        api.patch(&name, &params, &Patch::Apply(object)).await.unwrap();
    }
}

/// Writes the files of the operators' account; returns the address of the API server. The embedded
/// one has one user, and no accounts.
async fn write_account(cluster: &Cluster, folder: &Path) -> (String, String) {
    let kubeconfig = fs::read_to_string(cluster.kubeconfig()).unwrap();
    let kubeconfig: Value = serde_yaml_ng::from_str(&kubeconfig).unwrap();
    let server = &kubeconfig["clusters"][0]["cluster"];
    let authority = match server["certificate-authority-data"].as_str() {
        Some(encoded) => BASE64_STANDARD.decode(encoded).unwrap(),
        None => fs::read(server["certificate-authority"].as_str().unwrap()).unwrap(),
    };
    let token = match kubeconfig["users"][0]["user"]["token"].as_str() {
        Some(token) => token.to_owned(),
        None => token(cluster).await,
    };
    fs::write(folder.join("ca.crt"), authority).unwrap();
    fs::write(folder.join("token"), token).unwrap();
    fs::write(folder.join("namespace"), NAMESPACE).unwrap();
    let address = server["server"].as_str().unwrap().strip_prefix("https://").unwrap();
    let (host, port) = address.rsplit_once(':').unwrap();
    (host.to_owned(), port.to_owned())
}

/// The token of the operators.
async fn token(cluster: &Cluster) -> String {
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client().await, NAMESPACE);
    let (params, request) = (PostParams::default(), TokenRequest::default());
    let answer = accounts.create_token_request("operetta", &params, &request).await;
    answer.unwrap().status.unwrap().token.unwrap()
}

#[operetta_harness::test]
async fn inside_a_cluster_it_works_with_the_account_of_its_pod() {
    needs_own_mounts().await;
    let tenant = Tenant::new("inside").await;
    let account = new_folder();
    grant(&tenant.cluster).await;
    let (host, port) = write_account(&tenant.cluster, &account).await;
    let mut operators = Program::start_in_pod(&account, (&host, &port));
    operators.ready().await;
    tenant.create(1).await;
    let parents = tenant.until_all_synced().await;
    let (pods, services) = tenant.children().await;
    let uid = parents[0].metadata.uid.clone().unwrap();
    assert_eq!((owners(&pods), owners(&services)), (vec![uid.clone()], vec![uid]));
    tenant.clear().await;
    assert_eq!(operators.stop("TERM").await, Some(0));
}

/// A kubeconfig of another cluster is available.
#[operetta_harness::test]
async fn outside_a_cluster_it_fails_and_does_not_use_a_kubeconfig() {
    let other = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let file = new_folder().join("kubeconfig");
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: a, \
          contexts: [{{name: a, context: {{cluster: c, user: u}}}}], \
          clusters: [{{name: c, cluster: {{server: 'http://{}'}}}}], \
          users: [{{name: u, user: {{token: t}}}}]}}",
        other.local_addr().unwrap(),
    );
    std::fs::write(&file, kubeconfig).unwrap();
    let flags = ["--listen", "127.0.0.1:0", "--cluster", "in-cluster"];
    let (code, _, stderr) = tokio::select! {
        ended = output_beside(&file, &flags) => ended,
        _ = other.accept() => panic!("it connected to a cluster that was not chosen"),
    };
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("--cluster in-cluster: the process does not run in a cluster"),
        "{stderr}"
    );
    let asked = other.into_std().unwrap().accept();
    assert!(asked.is_err(), "it connected to a cluster that was not chosen before it ended");
}
