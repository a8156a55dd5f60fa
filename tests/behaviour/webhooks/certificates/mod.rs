//! Replicas that share the certificates of their webhooks.

mod bootstrap;
mod converted;
mod killed;
mod owners;
mod permissions;
mod replicas;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, PostParams},
};
use operetta::{
    operator::admission::{Admission, AdmissionRequest},
    prelude::*,
};
use tokio::task::JoinHandle;

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn no_salt(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
    let data = request.subject().data.as_ref();
    Ok(match data.and_then(|data| data.get("salt")) {
        Some(_) => Admission::invalid("data.salt", "too much"),
        None => Admission::allow(),
    })
}

/// The user of replicas with few permissions.
const REPLICA: &str = "replica";
const HOUR: Duration = Duration::from_hours(1);
/// Certificates that outlive a test, and authorities that need not wait long.
const LONG: [Duration; 3] = [HOUR, HOUR, Duration::from_secs(3)];

/// Two replicas, and a configuration by which the API server calls both.
struct Sharing {
    world: World,
    replicas: [Operators; 2],
    program: String,
}

impl Sharing {
    async fn start(lifetimes: [Duration; 3]) -> Self {
        let world = World::new().await;
        let program = format!("sharing-{}", world.namespace);
        let [first, second] = [replica(&program, lifetimes), replica(&program, lifetimes)];
        let (first, second) = tokio::join!(world.start(first), world.start(second));
        let sharing = Self { world, replicas: [first, second], program };
        sharing.configure().await;
        sharing.until_trusted().await;
        sharing
    }

    /// As who deploys the program does: without a `caBundle`.
    async fn configure(&self) {
        self.configure_for(&["first", "second"]).await;
    }

    /// The same for some of the webhooks.
    async fn configure_for(&self, webhooks: &[&str]) {
        let entries: Vec<Value> = webhooks
            .iter()
            .zip(&self.replicas)
            .map(|(name, replica)| {
                let name = format!("{name}.configmaps.core");
                let address = replica.running().webhooks().unwrap();
                json!({
                    "name": name,
                    "clientConfig": {"url": format!("https://{address}/webhooks/{name}")},
                    "rules": [{
                        "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                        "operations": ["CREATE"],
                    }],
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": self.world.namespace},
                    },
                    "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
                })
            })
            .collect();
        let configuration = json!({"metadata": {"name": self.program}, "webhooks": entries});
        self.world.apply(VALIDATING, configuration).await;
    }

    /// What each entry of the configuration trusts.
    async fn bundles(&self) -> Vec<Value> {
        let configuration = self.world.get(VALIDATING, &self.program).await;
        let entries = configuration["webhooks"].as_array().unwrap();
        entries.iter().map(|entry| entry["clientConfig"]["caBundle"].clone()).collect()
    }

    async fn until_trusted(&self) {
        let trusted = || async { (self.bundles().await, self.secret().await) };
        let is_right = |(bundles, secret): &(Vec<Value>, Value)| {
            let ca = &secret["data"]["ca.crt"];
            ca.is_string() && bundles.iter().all(|bundle| bundle == ca)
        };
        eventually("a bundle that is that of the Secret", trusted, is_right).await;
        eventually("an admission", || async { self.admit().await.is_ok() }, |is_ok| *is_ok).await;
    }

    fn secrets(&self) -> (Api<DynamicObject>, String) {
        secrets(&self.world, &self.program)
    }

    /// The Secret; null if it does not exist.
    async fn secret(&self) -> Value {
        secret_of(&self.world, &self.program).await
    }

    /// Both webhooks are asked, and nothing is stored.
    async fn admit(&self) -> kube::Result<()> {
        admit(&self.world.api(CONFIG_MAP)).await
    }

    async fn stop(self) {
        self.world.delete(VALIDATING, &self.program).await;
        for replica in self.replicas {
            replica.stop().await;
        }
        delete_secret(&self.world, &self.program).await;
    }
}

/// Where the Secret of a program is, and its name.
fn secrets(world: &World, program: &str) -> (Api<DynamicObject>, String) {
    let api = world.api_in(SECRET, Some(world.client.default_namespace()));
    (api, format!("{program}-webhook-certificates"))
}

async fn secret_of(world: &World, program: &str) -> Value {
    let (api, name) = secrets(world, program);
    serde_json::to_value(api.get_opt(&name).await.unwrap()).unwrap()
}

async fn delete_secret(world: &World, program: &str) {
    let (api, name) = secrets(world, program);
    let _ = api.delete(&name, &DeleteParams::default()).await;
}

fn replica(
    program: &str,
    lifetimes: [Duration; 3],
) -> impl FnOnce(SupervisorBuilder) -> SupervisorBuilder + use<> {
    let program = program.to_owned();
    move |builder| {
        builder
            .expect_registrations()
            .program(&program, "1")
            .webhook(Webhook::validate("first", no_salt))
            .webhook(Webhook::validate("second", no_salt))
            .webhooks("127.0.0.1:0")
            .webhook_service(&program)
            .webhook_lifetimes(lifetimes, &["127.0.0.1"])
    }
}

async fn admit(api: &Api<DynamicObject>) -> kube::Result<()> {
    let params = PostParams { dry_run: true, ..<_>::default() };
    let allowed = object(CONFIG_MAP, json!({"metadata": {"name": "a"}}));
    api.create(&params, &allowed).await.map(drop)
}

/// Requests without a pause, of which none may be refused.
struct Load {
    is_over: Arc<AtomicBool>,
    admitted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Load {
    fn start(sharing: &Sharing) -> Self {
        let (is_over, admitted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (api, ended, counted) =
            (sharing.world.api(CONFIG_MAP), is_over.clone(), admitted.clone());
        let task = tokio::spawn(async move {
            while !ended.load(Ordering::Relaxed) {
                admit(&api).await.expect("nothing is refused");
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { is_over, admitted, task }
    }

    async fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.task.await.expect("nothing is refused");
        let admitted = self.admitted.load(Ordering::Relaxed);
        assert!(admitted > 20, "{admitted} requests");
    }
}

/// The authorities of a Secret.
fn authorities(secret: &Value) -> usize {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let bundle = secret["data"]["ca.crt"].as_str().unwrap_or_default();
    let bundle = String::from_utf8(STANDARD.decode(bundle).unwrap()).unwrap();
    bundle.matches("BEGIN CERTIFICATE").count()
}
