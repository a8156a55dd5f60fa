//! What the API server asks the binary, wherever that runs.

use std::net::TcpListener;

use k8s_openapi::{
    api::{
        admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
        core::v1::Namespace,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
    },
};
use serde_json::{Value, json};

use super::Tenant;
use crate::{
    cluster::{client_of, new_folder},
    program::Program,
};

const DATABASES: &str = "databases.example.operetta.dev";

fn databases(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.operetta.dev", version, "Database");
    let resource = ApiResource::from_gvk_with_plural(&kind, "databases");
    Api::namespaced_with(client.clone(), "asked", &resource)
}

fn database(version: &str, name: &str, spec: &Value) -> DynamicObject {
    let api_version = format!("example.operetta.dev/{version}");
    let object = json!({"apiVersion": api_version, "kind": "Database", "metadata": {"name": name}, "spec": spec});
    serde_json::from_value(object).unwrap()
}

fn small() -> Value {
    json!({"version": {"major": 17, "minor": 7}, "storage": {"size": "1Gi"}})
}

#[operetta_harness::test]
async fn on_its_own_api_server_it_is_asked_without_any_flag() {
    let folder = new_folder();
    let mut operators = Program::start_in(&folder, &[]);
    operators.ready().await;
    let client = client_of(&folder.join("target/operetta/kubeconfig")).await;
    let namespace = json!({"metadata": {"name": "asked"}});
    let namespace: Namespace = serde_json::from_value(namespace).unwrap();
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let first = json!({"version": "17.7", "storage": {"size": "1Gi"}});
    let first = database("v1alpha1", "main", &first);
    databases(&client, "v1alpha1").create(&PostParams::default(), &first).await.unwrap();
    let stored = databases(&client, "v1").get("main").await.unwrap();
    assert_eq!(stored.data["spec"]["version"], json!({"major": 17, "minor": 7}));
    refuses_to_restore_nothing(&client).await;
    operators.stop("TERM").await;
}

async fn refuses_to_restore_nothing(client: &Client) {
    let mut spec = small();
    spec["restoreFrom"] = json!({"database": "gone"});
    let restored = database("v1", "restored", &spec);
    let refused = databases(client, "v1").create(&PostParams::default(), &restored).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("there are no backups of `gone`"), "{refused}");
}

#[operetta_harness::test(server)]
async fn beside_a_cluster_it_is_asked_only_at_an_address_that_the_api_server_reaches() {
    let tenant = Tenant::new("asked").await;
    let client = tenant.cluster.client().await;
    let kubeconfig = tenant.cluster.kubeconfig().to_str().unwrap();
    let flags = ["--cluster", "kubeconfig", "--kubeconfig", kubeconfig, "--install-crds"];
    let mut operators = Program::start(&flags);
    operators.ready().await;
    let log = operators.log();
    assert!(log.contains("webhooks are not answered") && log.contains("--webhook-url"), "{log}");
    let crds = Api::<CustomResourceDefinition>::all(client.clone());
    let crd = serde_json::to_value(crds.get(DATABASES).await.unwrap()).unwrap();
    let service = &crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
    assert_eq!(
        (&service["namespace"], &service["name"]),
        (&json!("operetta-system"), &json!("operetta-webhooks"))
    );
    // Nothing has to be converted.
    let new = database("v1", "main", &small());
    databases(&client, "v1").create(&PostParams::default(), &new).await.unwrap();
    operators.stop("TERM").await;

    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (listen, url) = (format!("127.0.0.1:{port}"), format!("https://localhost:{port}"));
    let called = ["--webhook-listen", &listen, "--webhook-url", &url];
    let mut operators = Program::start(&[&flags[..], &called].concat());
    operators.ready().await;
    let first = databases(&client, "v1alpha1").get("main").await.unwrap();
    assert_eq!(first.data["spec"]["version"], "17.7");
    refuses_to_restore_nothing(&client).await;
    databases(&client, "v1").delete("main", &DeleteParams::default()).await.unwrap();
    operators.stop("TERM").await;
    forgotten(&client).await;
}

/// The next test begins without webhooks.
async fn forgotten(client: &Client) {
    let params = DeleteParams::default();
    let mutating = Api::<MutatingWebhookConfiguration>::all(client.clone());
    let validating = Api::<ValidatingWebhookConfiguration>::all(client.clone());
    mutating.delete("operators", &params).await.unwrap();
    validating.delete("operators", &params).await.unwrap();
    let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
    let crds = Api::<CustomResourceDefinition>::all(client.clone());
    crds.patch(DATABASES, &PatchParams::default(), &Patch::Merge(none)).await.unwrap();
}
