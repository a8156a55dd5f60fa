//! Replicas that share the certificates of their webhooks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, CustomResource, CustomResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, PostParams},
    core::crd::merge_crds,
};
use operetta::{
    operator::{
        admission::{Admission, AdmissionRequest},
        conversion::Versions,
    },
    prelude::*,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
        let entries: Vec<Value> = ["first", "second"]
            .into_iter()
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
        let namespace = self.world.client.default_namespace();
        let api = self.world.api_in(SECRET, Some(namespace));
        (api, format!("{}-webhook-certificates", self.program))
    }

    /// The Secret; null if it does not exist.
    async fn secret(&self) -> Value {
        let (api, name) = self.secrets();
        serde_json::to_value(api.get_opt(&name).await.unwrap()).unwrap()
    }

    /// Both webhooks are asked, and nothing is stored.
    async fn admit(&self) -> kube::Result<()> {
        admit(&self.world.api(CONFIG_MAP)).await
    }

    async fn stop(self) {
        let (api, name) = self.secrets();
        self.world.delete(VALIDATING, &self.program).await;
        for replica in self.replicas {
            replica.stop().await;
        }
        let _ = api.delete(&name, &DeleteParams::default()).await;
    }
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

#[operetta_harness::test(server)]
async fn replicas_that_start_together_share_one_authority() {
    let sharing = Sharing::start(LONG).await;
    let secret = sharing.secret().await;
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(authorities(&secret), 1);
    // Both are trusted by the same, and asked.
    let salted = object(CONFIG_MAP, json!({"metadata": {"name": "a"}, "data": {"salt": "much"}}));
    let api = sharing.world.api(CONFIG_MAP);
    let Err(kube::Error::Api(denied)) = api.create(&PostParams::default(), &salted).await else {
        panic!("it was stored");
    };
    assert!(denied.message.contains("too much"), "{}", denied.message);

    // The deployer's YAML without a bundle, by another verb than apply.
    let live = sharing.world.get(VALIDATING, &sharing.program).await;
    let mut emptied = live.clone();
    for entry in emptied["webhooks"].as_array_mut().unwrap() {
        entry["clientConfig"].as_object_mut().unwrap().remove("caBundle");
    }
    let patch = json!({"webhooks": emptied["webhooks"]});
    sharing.world.patch(VALIDATING, &sharing.program, patch).await;
    sharing.until_trusted().await;
    let repaired = sharing.world.get(VALIDATING, &sharing.program).await;
    assert_eq!(repaired["webhooks"], live["webhooks"], "nothing else changed");
    let managers = repaired["metadata"]["managedFields"].as_array().unwrap();
    let of_us = managers.iter().find(|it| it["manager"] == "operetta-webhooks").unwrap();
    let fields = of_us["fieldsV1"].to_string();
    assert!(fields.contains("f:caBundle") && !fields.contains("f:rules"), "{fields}");
    assert_eq!(sharing.secret().await["data"], secret["data"], "it is written once");
    sharing.stop().await;
}

#[operetta_harness::test(server)]
async fn a_secret_that_is_deleted_is_made_again_and_refuses_nothing() {
    let sharing = Sharing::start(LONG).await;
    let load = Load::start(&sharing);
    let (api, name) = sharing.secrets();
    let before = sharing.secret().await["data"].clone();
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    let renewed = |secret: &Value| {
        let data = &secret["data"];
        data.is_object() && data["tls.crt"] != before["tls.crt"] && authorities(secret) == 1
    };
    let after = eventually("another authority alone", || sharing.secret(), renewed).await;
    assert_ne!(after["data"]["ca.key"], before["ca.key"]);
    load.end().await;
    sharing.until_trusted().await;
    sharing.stop().await;
}

#[operetta_harness::test(server)]
async fn both_certificates_are_renewed_under_load_and_nothing_is_refused() {
    let sharing = Sharing::start([24, 15, 4].map(Duration::from_secs)).await;
    let load = Load::start(&sharing);
    let before = sharing.secret().await["data"].clone();
    let is_serving_renewed = |secret: &Value| secret["data"]["tls.crt"] != before["tls.crt"];
    eventually("a serving certificate", || sharing.secret(), is_serving_renewed).await;
    let is_authority_renewed =
        |secret: &Value| secret["data"]["ca.key"] != before["ca.key"] && authorities(secret) == 1;
    eventually("another authority alone", || sharing.secret(), is_authority_renewed).await;
    load.end().await;
    sharing.stop().await;
}

mod v1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "sharing.operetta.dev", version = "v1", kind = "Kiosk", namespaced)]
    pub(super) struct KioskSpec {
        pub(super) size: u32,
    }
}

mod v1alpha1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "sharing.operetta.dev", version = "v1alpha1", kind = "Kiosk", namespaced)]
    pub(super) struct KioskSpec {
        pub(super) rooms: u32,
    }
}

impl From<v1alpha1::Kiosk> for v1::Kiosk {
    fn from(old: v1alpha1::Kiosk) -> Self {
        Self { metadata: old.metadata, spec: v1::KioskSpec { size: old.spec.rooms } }
    }
}

impl From<v1::Kiosk> for v1alpha1::Kiosk {
    fn from(new: v1::Kiosk) -> Self {
        Self { metadata: new.metadata, spec: v1alpha1::KioskSpec { rooms: new.spec.size } }
    }
}

const KIOSKS: &str = "kiosks.sharing.operetta.dev";

#[operetta_harness::test(server)]
async fn a_conversion_is_trusted_when_its_crd_comes_later_than_the_process() {
    let world = World::new().await;
    let program = format!("converting-{}", world.namespace);
    let named = program.clone();
    let operators = world
        .start(move |builder| {
            builder
                .expect_registrations()
                .program(&named, "1")
                .versions(Versions::hub::<v1::Kiosk>().version::<v1alpha1::Kiosk>())
                .webhooks("127.0.0.1:0")
                .webhook_service(&named)
                .webhook_lifetimes(LONG, &["127.0.0.1"])
        })
        .await;
    let crds = vec![v1::Kiosk::crd(), v1alpha1::Kiosk::crd()];
    let mut crd = serde_json::to_value(merge_crds(crds, "v1").unwrap()).unwrap();
    let address = operators.running().webhooks().unwrap();
    let url = format!("https://{address}/webhooks/convert/{KIOSKS}");
    crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": {"url": url},
    }});
    world.apply(CRD, crd).await;
    let api: Api<v1::Kiosk> = Api::namespaced(world.client.clone(), &world.namespace);
    let listed = || async { api.list(&ListParams::default()).await.is_ok() };
    eventually("a served type", listed, |is_ok| *is_ok).await;
    let old: Api<v1alpha1::Kiosk> = Api::namespaced(world.client.clone(), &world.namespace);
    let kiosk = v1alpha1::Kiosk::new("a", v1alpha1::KioskSpec { rooms: 3 });
    let created = || async { old.create(&PostParams::default(), &kiosk).await.is_ok() };
    eventually("a converted object", created, |is_ok| *is_ok).await;
    assert_eq!(api.get("a").await.unwrap().spec.size, 3);
    world.delete(CRD, KIOSKS).await;
    world.until(CRD, KIOSKS, "its end", Value::is_null).await;
    operators.stop().await;
    let secrets = world.api_in(SECRET, Some(world.client.default_namespace()));
    let name = format!("{program}-webhook-certificates");
    secrets.delete(&name, &DeleteParams::default()).await.unwrap();
}

/// Lets a user do what a replica needs, by the names of its objects.
async fn grant(world: &World, user: &str, program: &str) {
    let secret = format!("{program}-webhook-certificates");
    let rules = json!([
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [secret],
            "verbs": ["get", "watch", "update"]},
        {"apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["validatingwebhookconfigurations"], "resourceNames": [program],
            "verbs": ["get", "watch", "patch"]},
    ]);
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": program}, "rules": rules})).await;
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": program},
        "subjects": [{"kind": "User", "name": user, "apiGroup": group}],
        "roleRef": {"kind": "ClusterRole", "name": program, "apiGroup": group},
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
}

#[operetta_harness::test(server)]
async fn permissions_by_name_are_enough_and_without_them_the_start_says_which() {
    let (world, config) = World::that_enforces_rbac(REPLICA).await;
    let program = format!("granted-{}", world.namespace);
    let builder = || {
        let config = config.clone();
        let connected = Supervisor::builder().connect(move || async { Ok(config) });
        replica(&program, LONG)(connected.serve("127.0.0.1:0"))
    };
    let refused = builder().start().await.unwrap_err().to_string();
    assert!(refused.contains("grant get, watch, create and update of secrets"), "{refused}");

    grant(&world, REPLICA, &program).await;
    let started = || async { builder().start().await.ok() };
    let running = eventually("a start", started, Option::is_some).await.unwrap();
    let second = builder().start().await.unwrap();
    let replicas = [Operators::new(running), Operators::new(second)];
    let sharing = Sharing { world, replicas, program: program.clone() };
    sharing.configure().await;
    sharing.until_trusted().await;
    for replica in &sharing.replicas {
        let (_, metrics) = replica.http("/metrics").await;
        let refused: Vec<_> = metrics.lines().filter(|it| it.contains("code=\"403\"")).collect();
        assert!(refused.is_empty(), "{refused:#?}");
        assert!(metrics.contains("webhook_certificate_expiry_timestamp_seconds"), "{metrics}");
    }
    sharing.world.delete(CLUSTER_ROLE_BINDING, &program).await;
    sharing.world.delete(CLUSTER_ROLE, &program).await;
    sharing.stop().await;
}
