//! What is done to objects through their subresources: evicting, binding and debugging Pods, scaling, approving
//! requests for certificates.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
};
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};

use crate::common::{api, apply, create, refusal, server};

const PODS: &str = "/api/v1/namespaces/default/pods";

fn pods(client: &Client) -> Api<DynamicObject> {
    api(client, "v1", "Pod", "default")
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    })
}

async fn ready_pod(client: &Client, name: &str) {
    create(&pods(client), pod(name)).await;
    let status = json!({"status": {
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
    }});
    pods(client)
        .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
        .await
        .expect("it is ready");
}

async fn post(client: &Client, path: &str, body: &Value) -> Result<Value, kube::Error> {
    let request = http::Request::post(path).header("content-type", "application/json");
    client.request(request.body(body.to_string().into_bytes()).expect("a request")).await
}

async fn get(client: &Client, path: &str) -> Result<String, kube::Error> {
    client.request_text(http::Request::get(path).body(Vec::new()).expect("a request")).await
}

async fn evict(client: &Client, name: &str) -> Result<Value, kube::Error> {
    let eviction = json!({
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": name, "namespace": "default"},
    });
    post(client, &format!("{PODS}/{name}/eviction"), &eviction).await
}

/// Watches an object until it is as it should be.
async fn until(
    api: &Api<DynamicObject>,
    name: &str,
    is_so: impl Fn(&DynamicObject) -> bool,
) -> DynamicObject {
    let params = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = api.watch(&params, "0").await.expect("it can be watched").boxed();
    while let Some(event) = events.try_next().await.expect("the watch continues") {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) if is_so(&object) => {
                return object;
            }
            _ => {}
        }
    }
    panic!("the watch ended before {name} was so");
}

#[operetta_harness::test]
async fn an_eviction_takes_a_disruption_from_the_budget_until_none_is_left() {
    let (_server, client) = server();
    for name in ["one", "two"] {
        ready_pod(&client, name).await;
    }
    let budgets = api(&client, "policy/v1", "PodDisruptionBudget", "default");
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
    });
    create(&budgets, budget).await;
    let counted = until(&budgets, "b", |b| b.data["status"]["disruptionsAllowed"] == 1).await;
    let status = &counted.data["status"];
    assert_eq!(
        (&status["expectedPods"], &status["currentHealthy"], &status["desiredHealthy"]),
        (&json!(2), &json!(2), &json!(1))
    );
    assert_eq!(status["conditions"][0]["reason"], "SufficientPods");
    assert_eq!(evict(&client, "one").await.unwrap()["status"], "Success");
    assert!(pods(&client).get_opt("one").await.unwrap().is_none());
    until(&budgets, "b", |b| b.data["status"]["currentHealthy"] == 1).await;
    let (code, reason, message) = refusal(evict(&client, "two").await);
    assert_eq!((code, reason.as_str()), (429, "TooManyRequests"));
    assert_eq!(message, "Cannot evict pod as it would violate the pod's disruption budget.");
    assert!(pods(&client).get_opt("two").await.unwrap().is_some());
}

#[operetta_harness::test]
async fn a_pod_that_waits_or_has_no_budget_is_evicted() {
    let (_server, client) = server();
    create(&pods(&client), pod("pending")).await;
    ready_pod(&client, "free").await;
    for name in ["pending", "free"] {
        evict(&client, name).await.unwrap();
        assert!(pods(&client).get_opt(name).await.unwrap().is_none(), "{name}");
    }
    let (code, ..) = refusal(evict(&client, "pending").await);
    assert_eq!(code, 404);
}

#[operetta_harness::test]
async fn a_binding_assigns_a_pod_once() {
    let (_server, client) = server();
    create(&pods(&client), pod("p")).await;
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    let path = "/api/v1/namespaces/default/bindings";
    assert_eq!(post(&client, path, &binding).await.unwrap()["status"], "Success");
    let bound = pods(&client).get("p").await.unwrap();
    assert_eq!(bound.data["spec"]["nodeName"], "n");
    assert_eq!(bound.data["status"]["conditions"][0]["type"], "PodScheduled");
    let (code, _, message) = refusal(post(&client, &format!("{PODS}/p/binding"), &binding).await);
    assert_eq!(code, 409);
    assert_eq!(
        message,
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\""
    );
}

#[operetta_harness::test]
async fn connections_are_refused_with_the_reason() {
    let (_server, client) = server();
    create(&pods(&client), pod("p")).await;
    assert_eq!(get(&client, &format!("{PODS}/p/log")).await.unwrap(), "");
    let (code, _, message) = refusal(get(&client, &format!("{PODS}/p/exec?command=ls")).await);
    assert_eq!((code, message.as_str()), (400, "pod p does not have a host assigned"));
    create(
        &api(&client, "v1", "Node", ""),
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
        }),
    )
    .await;
    let binding = json!({"metadata": {"name": "p"}, "target": {"name": "n"}});
    post(&client, &format!("{PODS}/p/binding"), &binding).await.unwrap();
    for subresource in ["log", "exec", "attach", "portforward"] {
        let (code, _, message) = refusal(get(&client, &format!("{PODS}/p/{subresource}")).await);
        assert_eq!(code, 501, "{subresource}");
        assert_eq!(
            message,
            format!(
                "the embedded API server does not support pods/{subresource}: it runs no containers"
            )
        );
    }
}

#[operetta_harness::test]
async fn containers_for_debugging_are_added_and_stay() {
    let (_server, client) = server();
    create(&pods(&client), pod("p")).await;
    let path = format!("{PODS}/p/ephemeralcontainers");
    let request = |list: Value| {
        let body =
            json!({"spec": {"ephemeralContainers": list}, "metadata": {"labels": {"x": "y"}}});
        http::Request::patch(path.as_str())
            .header("content-type", "application/merge-patch+json")
            .body(body.to_string().into_bytes())
            .expect("a request")
    };
    let added = json!([{"name": "d", "image": "busybox", "targetContainerName": "c"}]);
    let debugged: Value = client.request(request(added)).await.unwrap();
    assert_eq!(debugged["spec"]["ephemeralContainers"][0]["name"], "d");
    assert_eq!(debugged["metadata"]["labels"], json!({"app": "a"}));
    let (code, _, message) = refusal(client.request::<Value>(request(json!([]))).await);
    assert_eq!(code, 422);
    assert!(
        message.contains("existing ephemeral containers \"d\" may not be removed"),
        "{message}"
    );
}

#[operetta_harness::test]
async fn a_scale_is_applied_and_belongs_to_who_applied_it() {
    let (_server, client) = server();
    let deployments = api(&client, "apps/v1", "Deployment", "default");
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "nginx"}]},
            },
        },
    });
    apply(&deployments, "d", "author", &deployment).await.unwrap();
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 3}});
    let patch = Patch::Apply(&scale);
    let params = PatchParams::apply("scaler");
    let (code, reason, _) = refusal(deployments.patch_scale("d", &params, &patch).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    deployments.patch_scale("d", &params.force(), &patch).await.unwrap();
    let scaled = deployments.get("d").await.unwrap();
    assert_eq!(scaled.data["spec"]["replicas"], 3);
    let managers = scaled.metadata.managed_fields.unwrap();
    let of = |name: &str| {
        let found = managers.iter().find(|entry| entry.manager.as_deref() == Some(name));
        found.map(|entry| json!(entry)).unwrap()
    };
    assert_eq!(of("scaler")["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    assert_eq!(of("scaler")["subresource"], "scale");
    assert_eq!(of("author")["fieldsV1"]["f:spec"]["f:replicas"], Value::Null);
}

#[operetta_harness::test]
async fn an_approved_request_gets_its_certificate() {
    let (_server, client) = server();
    let requests = api(&client, "certificates.k8s.io/v1", "CertificateSigningRequest", "");
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "jane");
    let request = params.serialize_request(&KeyPair::generate().unwrap()).unwrap();
    let created = create(
        &requests,
        json!({
            "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"name": "jane"},
            "spec": {
                "request": BASE64_STANDARD.encode(request.pem().unwrap()),
                "signerName": "kubernetes.io/kube-apiserver-client",
                "usages": ["client auth"],
                "username": "somebody else",
            },
        }),
    )
    .await;
    assert_eq!(created.data["spec"]["username"], "admin");
    let approval = json!({"status": {"conditions": [
        {"type": "Approved", "status": "True", "reason": "Known", "message": "it is Jane"},
    ]}});
    let (code, _, message) = refusal(
        requests.patch_status("jane", &PatchParams::default(), &Patch::Merge(&approval)).await,
    );
    assert_eq!(code, 422, "{message}");
    requests
        .patch_subresource("approval", "jane", &PatchParams::default(), &Patch::Merge(&approval))
        .await
        .unwrap();
    let signed = until(&requests, "jane", |r| r.data["status"]["certificate"].is_string()).await;
    let text = signed.data["status"]["certificate"].as_str().unwrap();
    let text = String::from_utf8(BASE64_STANDARD.decode(text).unwrap()).unwrap();
    assert!(text.starts_with("-----BEGIN CERTIFICATE-----\n"), "{text}");
}
