//! What a cluster has from its beginning, and what the server says of its parts.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{StreamExt, TryStreamExt};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams},
    client::Body,
    config::Kubeconfig,
};
use operetta_apiserver::Server;
use serde_json::{Value, json};

use crate::common::{api, create, define_widgets, gone, server};

async fn names(client: &Client, version: &str, kind: &str) -> Vec<String> {
    let list = api(client, version, kind, "").list(&ListParams::default()).await.unwrap();
    list.items.into_iter().filter_map(|object| object.metadata.name).collect()
}

async fn get(client: &Client, path: &str) -> (StatusCode, Value) {
    let response = client.send(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[operetta_harness::test]
async fn namespaces_have_an_account_and_the_authority_where_that_is_wanted() {
    let server = Server::builder().namespace_defaults().start();
    let client = server.client();
    let accounts = |namespace: &str| api(&client, "v1", "ServiceAccount", namespace);
    let first = accounts("kube-system").get("default").await.unwrap();
    let authority =
        api(&client, "v1", "ConfigMap", "default").get("kube-root-ca.crt").await.unwrap();
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let named = kubeconfig.clusters[0].cluster.as_ref().unwrap();
    let named = named.certificate_authority_data.as_ref().unwrap();
    let named = BASE64_STANDARD.decode(named).unwrap();
    assert_eq!(authority.data["data"]["ca.crt"], String::from_utf8(named).unwrap());
    // They come with a namespace, and come again.
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}});
    create(&api(&client, "v1", "Namespace", ""), namespace).await;
    there(&accounts("later"), "default", None).await;
    there(&api(&client, "v1", "ConfigMap", "later"), "kube-root-ca.crt", None).await;
    accounts("kube-system").delete("default", &DeleteParams::default()).await.unwrap();
    there(&accounts("kube-system"), "default", first.metadata.uid).await;
    running.stop().await;
}

#[operetta_harness::test]
async fn a_namespace_is_empty_without_that() {
    let bare = Server::builder().namespace_defaults().without_controller_manager().start();
    for server in [Server::start(), bare] {
        let client = server.client();
        assert!(names(&client, "v1", "ServiceAccount").await.is_empty());
        assert!(names(&client, "v1", "ConfigMap").await.is_empty());
    }
}

/// Waits for an object with another uid.
async fn there(api: &Api<DynamicObject>, name: &str, not: Option<String>) {
    loop {
        let found = api.get_opt(name).await.unwrap();
        if found.is_some_and(|found| found.metadata.uid != not) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[operetta_harness::test]
async fn flow_control_is_there_when_it_is_asked_for() {
    let (server, client) = server();
    let before = server.resource_version();
    let version = "flowcontrol.apiserver.k8s.io/v1";
    assert_eq!(names(&client, version, "PriorityLevelConfiguration").await.len(), 8);
    assert_eq!(names(&client, version, "FlowSchema").await.len(), 11);
    let exempt = api(&client, version, "FlowSchema", "").get("exempt").await.unwrap();
    assert_eq!(exempt.metadata.generation, Some(1));
    assert_eq!(exempt.data["status"]["conditions"][0]["reason"], "Found");
    assert!(server.resource_version() > before, "they are created only now");
}

#[operetta_harness::test]
async fn every_served_group_version_has_an_available_service() {
    let (_server, client) = server();
    let version = "apiregistration.k8s.io/v1";
    let built_in = names(&client, version, "APIService").await;
    assert_eq!(built_in.len(), 22);
    define_widgets(&client).await;
    let services = api(&client, version, "APIService", "");
    let custom = services.get("v1.example.com").await.unwrap();
    assert_eq!(
        custom.data["status"]["conditions"][0]["message"],
        "Local APIServices are always available"
    );
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    gone(&services, "v1.example.com").await;
    assert_eq!(names(&client, version, "APIService").await, built_in);
}

#[operetta_harness::test]
async fn a_service_of_another_server_is_not_judged() {
    let (_server, client) = server();
    let services = api(&client, "apiregistration.k8s.io/v1", "APIService", "");
    let other = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1beta1.metrics.example.com"},
        "spec": {
            "group": "metrics.example.com", "version": "v1beta1",
            "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"name": "metrics", "namespace": "default"},
            "insecureSkipTLSVerify": true,
        },
    });
    let created = create(&services, other).await;
    assert_eq!(created.data["status"], json!({}));
}

#[operetta_harness::test]
async fn components_say_how_they_are() {
    let (_server, client) = server();
    let (status, list) = get(&client, "/api/v1/componentstatuses").await;
    assert_eq!((status, list["items"].as_array().unwrap().len()), (StatusCode::OK, 3));
    let (_, etcd) = get(&client, "/api/v1/componentstatuses/etcd-0").await;
    assert_eq!(etcd["conditions"], json!([{"type": "Healthy", "status": "True", "message": "ok"}]));
    let (status, none) = get(&client, "/api/v1/componentstatuses/none").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(none["message"], "componentstatus \"none\" not found");
}

#[operetta_harness::test]
async fn a_watch_may_be_asked_for_by_its_deprecated_path() {
    let (_server, client) = server();
    let watched = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = client.send(request).await.unwrap();
        let mut frames = response.into_body().into_data_stream().boxed();
        let first = frames.try_next().await.unwrap().unwrap();
        serde_json::from_slice::<Value>(&first).unwrap()["object"]["metadata"]["name"].clone()
    };
    assert_eq!(watched("/api/v1/watch/namespaces/kube-public").await, "kube-public");
    assert_eq!(watched("/api/v1/watch/namespaces/default/services").await, "kubernetes");
    assert_eq!(watched("/api/v1/watch/services").await, "kubernetes");
    let (status, _) = get(&client, "/api/v1/watch/namespaces/default/nothing").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[operetta_harness::test]
async fn health_lists_its_checks() {
    let (_server, client) = server();
    assert_eq!(get(&client, "/livez").await.1, "ok");
    assert_eq!(get(&client, "/livez/etcd").await.1, "ok");
    assert_eq!(get(&client, "/livez/nothing").await.0, StatusCode::NOT_FOUND);
    let (_, verbose) = get(&client, "/readyz?verbose&exclude=etcd&exclude=other").await;
    let text = verbose.as_str().unwrap();
    assert!(text.starts_with("[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n"), "{text}");
    let end = "[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for \"other\"\n\
               readyz check passed\n";
    assert!(text.ends_with(end), "{text}");
}
