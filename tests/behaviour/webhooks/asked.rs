//! What the API server asks about: subresources, connections, dry runs, conditions, and in which order.

#![expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    api::{Patch, PatchParams, PostParams},
    core::Status,
};
use operetta::{
    operator::admission::{Admission, AdmissionRequest, Operation, Reinvocation, Webhook},
    prelude::*,
};

use super::*;
use crate::{
    needs::{Need, needs},
    recipe::{RECIPE, config_map, recipe},
};

/// A program that lets the API server call it, as one outside of its cluster does.
struct Calling {
    world: World,
    operators: Operators,
    program: String,
}

impl Calling {
    async fn start(webhooks: Vec<Webhook>) -> Self {
        let world = World::new().await;
        let (program, port) = (format!("calling-{}", world.namespace), free_port());
        let (named, namespace) = (program.clone(), world.namespace.clone());
        let operators = world
            .start(move |builder| {
                let here = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
                let builder = builder
                    .program(&named, "1")
                    .webhooks(&format!("127.0.0.1:{port}"))
                    .webhook_url(&format!("https://127.0.0.1:{port}"));
                let webhooks = webhooks.into_iter();
                webhooks.fold(builder, |builder, webhook| {
                    builder.webhook(webhook.namespace_selector(here.clone()))
                })
            })
            .await;
        Self { world, operators, program }
    }

    /// Tries to create a `ConfigMap`, and returns it or the refusal.
    async fn create(&self, name: &str, data: Value, params: &PostParams) -> Result<Value, Status> {
        let object = object(CONFIG_MAP, config_map(name, data));
        match self.world.api(CONFIG_MAP).create(params, &object).await {
            Ok(created) => Ok(serde_json::to_value(created).unwrap()),
            Err(kube::Error::Api(status)) => Err(*status),
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends a body to a path below the namespace.
    async fn post(&self, path: &str, body: &Value) -> kube::Result<Value> {
        let path = format!("/api/v1/namespaces/{}/{path}", self.world.namespace);
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::post(path).header("content-type", "application/json");
        self.world.client.request(request.body(body).unwrap()).await
    }

    async fn stop(self) {
        for kind in [VALIDATING, MUTATING] {
            if !self.world.get(kind, &self.program).await.is_null() {
                self.world.delete(kind, &self.program).await;
            }
        }
        self.operators.stop().await;
    }
}

fn dry_run() -> PostParams {
    PostParams { dry_run: true, ..<_>::default() }
}

fn denial(error: kube::Error) -> Status {
    let kube::Error::Api(status) = error else { panic!("{error}") };
    *status
}

fn bad_taste(request: &AdmissionRequest) -> Result<Admission> {
    anyhow::ensure!(request.subresource.as_deref() == Some("status"), "it is about the object");
    Ok(match &request.subject()["status"]["taste"] {
        taste if taste == "bad" => Admission::invalid("status.taste", "it is bad"),
        _ => Admission::allow(),
    })
}

#[operetta_harness::test(server)]
async fn a_webhook_of_the_status_is_asked_about_it_and_not_about_the_object() {
    let recipes = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let webhook = Webhook::validate_type("taste", recipes, bad_taste);
    let calling = Calling::start(vec![webhook.subresource("status").on([Operation::Update])]).await;
    calling.world.create(RECIPE, recipe("a", &[])).await;
    let api = calling.world.api(RECIPE);
    let merge = |taste: &str| Patch::Merge(json!({"status": {"taste": taste}}));
    let bad =
        || async { api.patch_status("a", &PatchParams::default(), &merge("bad")).await.err() };
    let denied = denial(eventually("a denial", bad, Option::is_some).await.unwrap());
    assert!(denied.message.ends_with("status.taste: it is bad"), "{}", denied.message);
    api.patch_status("a", &PatchParams::default(), &merge("good")).await.unwrap();
    calling.world.patch(RECIPE, "a", json!({"spec": {"status": {"taste": "bad"}}})).await;
    calling.stop().await;
}

fn few(request: &AdmissionRequest) -> Result<Admission> {
    let replicas = request.subject()["spec"]["replicas"].as_i64().unwrap_or_default();
    Ok(match replicas {
        ..=2 => Admission::allow(),
        _ => Admission::invalid("spec.replicas", "too many"),
    })
}

#[operetta_harness::test(server)]
async fn a_webhook_of_the_scale_is_asked_about_a_scale() {
    let deployments = K8sType::namespaced(DEPLOYMENT.0, DEPLOYMENT.1, DEPLOYMENT.2);
    let webhook = Webhook::validate_type("few", deployments, few);
    let calling = Calling::start(vec![webhook.subresource("scale").on([Operation::Update])]).await;
    let labels = json!({"app": "a"});
    let deployment = json!({"metadata": {"name": "a"}, "spec": {
        "replicas": 0, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}},
    }});
    calling.world.create(DEPLOYMENT, deployment).await;
    let api = calling.world.api(DEPLOYMENT);
    let merge = |replicas: u32| Patch::Merge(json!({"spec": {"replicas": replicas}}));
    let many = || async { api.patch_scale("a", &PatchParams::default(), &merge(3)).await.err() };
    let denied = denial(eventually("a denial", many, Option::is_some).await.unwrap());
    assert!(denied.message.ends_with("spec.replicas: too many"), "{}", denied.message);
    api.patch_scale("a", &PatchParams::default(), &merge(0)).await.unwrap();
    calling.stop().await;
}

fn nobody_connects(request: &AdmissionRequest) -> Result<Admission> {
    let options = request.subject();
    let kind = options["kind"].as_str().unwrap_or_default();
    anyhow::ensure!(kind == "PodExecOptions" && options["command"] == json!(["ls"]), "{options}");
    let denied = operetta::operator::admission::DenialReason::Forbidden;
    Ok(Admission::deny(denied, format!("nobody runs commands in {}", request.key.name)))
}

#[operetta_harness::test(server)]
async fn a_connection_to_a_pod_is_denied_before_it_is_made() {
    needs(Need::FullAdmission);
    let pods = K8sType::namespaced(POD.0, POD.1, POD.2);
    let webhook = Webhook::validate_type("exec", pods, nobody_connects);
    let calling = Calling::start(vec![webhook.subresource("exec").on([Operation::Connect])]).await;
    let pod =
        json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    calling.world.create(POD, pod).await;
    let connect = || async {
        let connected = calling.post("pods/a/exec?command=ls&stdout=true", &Value::Null).await;
        denial(connected.unwrap_err())
    };
    // Until the configuration has effect, the server finds no node to connect to.
    let denied = eventually("a denial", connect, |denied| denied.code == 403).await;
    assert!(denied.message.ends_with("nobody runs commands in a"), "{}", denied.message);
    calling.world.delete_now(POD, "a").await;
    calling.stop().await;
}

fn short_tokens(request: &AdmissionRequest) -> Result<Admission> {
    let seconds = request.subject()["spec"]["expirationSeconds"].as_i64().unwrap_or_default();
    Ok(match seconds {
        ..=600 => Admission::allow(),
        _ => Admission::invalid("spec.expirationSeconds", "too long"),
    })
}

#[operetta_harness::test(server)]
async fn a_webhook_of_tokens_is_asked_about_the_request_for_one() {
    let accounts = K8sType::namespaced("v1", "ServiceAccount", "serviceaccounts");
    let webhook = Webhook::validate_type("short", accounts, short_tokens);
    let calling = Calling::start(vec![webhook.subresource("token").on([Operation::Create])]).await;
    calling.post("serviceaccounts", &json!({"metadata": {"name": "a"}})).await.unwrap();
    let token = async |seconds: u64| {
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds},
        });
        calling.post("serviceaccounts/a/token", &request).await
    };
    let long = || async { token(3600).await.err() };
    let denied = denial(eventually("a denial", long, Option::is_some).await.unwrap());
    assert!(denied.message.ends_with("spec.expirationSeconds: too long"), "{}", denied.message);
    assert!(token(600).await.unwrap()["status"]["token"].is_string());
    calling.stop().await;
}

fn no_salt(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
    let data = request.subject().data.as_ref();
    Ok(match data.and_then(|data| data.get("salt")) {
        Some(_) if request.dry_run => Admission::invalid("data.salt", "it would be too much"),
        Some(_) => Admission::invalid("data.salt", "too much"),
        None => Admission::allow(),
    })
}

#[operetta_harness::test(server)]
async fn a_condition_spares_requests_and_a_dry_run_says_so() {
    let webhook = Webhook::validate("no-salt", no_salt)
        .matching("not-spared", "object.metadata.name != 'spared'");
    let calling = Calling::start(vec![webhook]).await;
    let salt = json!({"salt": "much"});
    let salted = || async { calling.create("a", salt.clone(), &dry_run()).await.err() };
    let denied = eventually("a denial", salted, Option::is_some).await.unwrap();
    assert!(denied.message.ends_with("it would be too much"), "{}", denied.message);
    let denied = calling.create("a", salt.clone(), &PostParams::default()).await.unwrap_err();
    assert!(denied.message.ends_with(": too much"), "{}", denied.message);
    calling.create("spared", salt.clone(), &PostParams::default()).await.unwrap();
    calling.stop().await;
}

type Mutated = Result<Admission>;

/// Copies what a later webhook adds.
fn copies(_: &AdmissionRequest<ConfigMap>, object: &mut ConfigMap) -> Mutated {
    let data = object.data.get_or_insert_default();
    if let Some(late) = data.get("late").cloned() {
        data.insert("copy".to_owned(), late);
    }
    Ok(Admission::allow())
}

fn late(_: &AdmissionRequest<ConfigMap>, object: &mut ConfigMap) -> Mutated {
    object.data.get_or_insert_default().insert("late".to_owned(), "x".to_owned());
    Ok(Admission::allow())
}

/// The order of registration is not that of the names.
#[operetta_harness::test(server)]
async fn mutating_webhooks_are_asked_in_the_order_of_registration_and_again_where_they_want_to() {
    let again = Webhook::mutate("z-again", copies).reinvocation(Reinvocation::IfNeeded);
    let once =
        Webhook::mutate("y-once", |_: &AdmissionRequest<ConfigMap>, object: &mut ConfigMap| {
            let data = object.data.get_or_insert_default();
            let seen = data.contains_key("late").to_string();
            data.insert("seen".to_owned(), seen);
            Ok(Admission::allow())
        });
    let calling = Calling::start(vec![again, once, Webhook::mutate("a-late", late)]).await;
    let created = || async {
        calling.create("a", json!({}), &dry_run()).await.unwrap_or_default()["data"].clone()
    };
    let data = eventually("a mutation", created, |data| data["late"] == "x").await;
    assert_eq!(data, json!({"late": "x", "copy": "x", "seen": "false"}));
    calling.stop().await;
}

/// Nothing would be called, and nothing would say why.
#[operetta_harness::test]
async fn a_webhook_of_a_type_that_no_crd_serves_is_named_in_the_log() {
    crate::logged::watch_logs();
    let nowhere = K8sType::namespaced("nowhere.operetta.dev/v1", "Nothing", "nothings");
    let webhook = Webhook::validate_type("void", nowhere, few);
    let calling = Calling::start(vec![webhook]).await;
    let named = "void.nothings.nowhere.operetta.dev is not called until one does";
    let lines = || std::future::ready(crate::logged::logged("no CRD serves"));
    let is_named = |lines: &Vec<String>| lines.iter().any(|line| line.contains(named));
    eventually("a line of the log", lines, is_named).await;
    calling.stop().await;
}
