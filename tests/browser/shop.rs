//! Two operators on an embedded API server, with parents in several phases.

use std::{net::SocketAddr, sync::Mutex, time::Duration};

use anyhow::Error;
use k8s_openapi::{
    api::core::v1::{ConfigMap, Event, Namespace, Secret, Service},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use kube::{
    Api,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
        PostParams,
    },
};
use operetta::{
    object::ObjectKey,
    operator::{Allowance, DeletionLimit},
    prelude::*,
    supervisor::{Running, SupervisorBuilder},
    testkit::{
        TestCluster, eventually,
        internals::board::{Board, ParentPhase},
    },
};
use serde_json::{Value, json};

/// A value that no page may show.
pub(crate) const SENTINEL: &str = "sentinel-c2VjcmV0";

/// Operators and their cluster, for one test.
pub(crate) struct Shop {
    cluster: TestCluster,
    address: SocketAddr,
    running: Mutex<Option<Running>>,
}

impl Shop {
    /// Both operators, without parents.
    pub(crate) async fn open() -> Self {
        let cluster = TestCluster::start();
        cluster.install(&[crd("Website", "websites"), crd("Database", "databases")]).await.unwrap();
        let namespaces: Api<Namespace> = Api::all(cluster.client());
        for name in ["blog", "data", "shop"] {
            let mut namespace = Namespace::default();
            namespace.metadata.name = Some(name.to_owned());
            namespaces.create(&PostParams::default(), &namespace).await.unwrap();
        }
        let running = run(&cluster, "127.0.0.1:0").await;
        let address = running.web().unwrap();
        Self { cluster, address, running: Mutex::new(Some(running)) }
    }

    /// With parents in every lasting phase.
    pub(crate) async fn stocked() -> Self {
        let shop = Self::open().await;
        for name in ["orders", "customers", "sessions"] {
            shop.put("Database", "data", name, json!({"title": name})).await;
        }
        for (namespace, name) in [
            ("blog", "journal"),
            ("blog", "recipes"),
            ("shop", "landing"),
            ("shop", "catalogue"),
            ("shop", "newsletter"),
            ("shop", "stock"),
        ] {
            shop.put("Website", namespace, name, json!({"title": name})).await;
        }
        shop.put("Website", "shop", "checkout", json!({"act": "fail"})).await;
        shop.put("Website", "blog", "portfolio", json!({"act": "permanent"})).await;
        for (namespace, name, phase) in [
            ("shop", "checkout", ParentPhase::Failing),
            ("blog", "portfolio", ParentPhase::Stalled),
            ("shop", "stock", ParentPhase::Ready),
            ("shop", "newsletter", ParentPhase::Ready),
        ] {
            shop.until("websites", namespace, name, phase).await;
        }
        shop.annotate("Website", "shop", "newsletter", "operetta.dev/paused", "true").await;
        shop.until("websites", "shop", "newsletter", ParentPhase::Paused).await;
        shop.hold("shop", "stock-content").await;
        shop.until("websites", "shop", "stock", ParentPhase::Waiting).await;
        let words = "MountVolume.SetUp failed for volume \"content\": the object is being deleted";
        shop.emit("ConfigMap", "stock-content", "FailedMount", words).await;
        shop
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Creates a parent, or changes its spec.
    pub(crate) async fn put(&self, kind: &str, namespace: &str, name: &str, spec: Value) {
        let object = json!({
            "apiVersion": "shop.example/v1", "kind": kind, "metadata": {"name": name}, "spec": spec,
        });
        self.apply(&self.api(kind, namespace), name, &object).await;
    }

    pub(crate) async fn annotate(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        key: &str,
        value: &str,
    ) {
        let patch = json!({"metadata": {"annotations": {key: value}}});
        let api = self.api(kind, namespace);
        api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) async fn delete(&self, kind: &str, namespace: &str, name: &str) {
        self.api(kind, namespace).delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Deletes a `ConfigMap` with a foreign finalizer.
    async fn hold(&self, namespace: &str, name: &str) {
        let api: Api<ConfigMap> = Api::namespaced(self.cluster.client(), namespace);
        let held = json!({"metadata": {"finalizers": ["backup.example/wait"]}});
        api.patch(name, &PatchParams::default(), &Patch::Merge(held)).await.unwrap();
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Creates an Event about a child in the namespace `shop`.
    pub(crate) async fn emit(&self, kind: &str, name: &str, reason: &str, words: &str) {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind));
        let children: Api<DynamicObject> =
            Api::namespaced_with(self.cluster.client(), "shop", &resource);
        let uid = children.get(name).await.unwrap().metadata.uid;
        let now = Time(Timestamp::now());
        let event = serde_json::from_value(json!({
            "metadata": {"generateName": format!("{name}-"), "namespace": "shop"},
            "involvedObject": {
                "apiVersion": "v1", "kind": kind, "namespace": "shop", "name": name, "uid": uid,
            },
            "type": "Warning", "reason": reason, "message": words, "count": 7,
            "source": {"component": "kubelet"}, "firstTimestamp": now, "lastTimestamp": now,
        }));
        let events: Api<Event> = Api::namespaced(self.cluster.client(), "shop");
        events.create(&PostParams::default(), &event.unwrap()).await.unwrap();
    }

    /// Waits until a parent is in this phase.
    pub(crate) async fn until(
        &self,
        operator: &str,
        namespace: &str,
        name: &str,
        phase: ParentPhase,
    ) {
        let key = ObjectKey::namespaced(namespace, name);
        let look = || async { self.board().parent(operator, &key).map(|it| it.phase) };
        eventually(&format!("{key} {}", phase.name()), look, |seen| *seen == Some(phase)).await;
    }

    /// Waits until an operator no longer has a parent.
    pub(crate) async fn until_gone(&self, operator: &str, namespace: &str, name: &str) {
        let key = ObjectKey::namespaced(namespace, name);
        let look = || async { self.board().parent(operator, &key).is_none() };
        eventually(&format!("the end of {key}"), look, |is_gone| *is_gone).await;
    }

    /// How many `ConfigMaps` of this parent exist.
    pub(crate) async fn children(&self, namespace: &str, parent: &str) -> usize {
        let all: Api<ConfigMap> = Api::namespaced(self.cluster.client(), namespace);
        let all = all.list(&ListParams::default()).await.unwrap();
        let name = format!("{parent}-content");
        all.iter().filter(|it| it.metadata.name.as_deref() == Some(&name)).count()
    }

    /// Stops both operators, as a rollout does.
    pub(crate) async fn stop(&self) {
        let running = self.running.lock().unwrap().take().expect("running until it is stopped");
        running.stop().await.unwrap();
    }

    /// Starts them again at the same address.
    pub(crate) async fn start_again(&self) {
        let running = run(&self.cluster, &self.address.to_string()).await;
        *self.running.lock().unwrap() = Some(running);
    }

    fn board(&self) -> Board {
        self.running.lock().unwrap().as_ref().expect("running").board().clone()
    }

    async fn apply(&self, api: &Api<DynamicObject>, name: &str, object: &Value) {
        let parameters = PatchParams::apply("a-user").force();
        api.patch(name, &parameters, &Patch::Apply(object)).await.unwrap();
    }

    fn api(&self, kind: &str, namespace: &str) -> Api<DynamicObject> {
        let plural = format!("{}s", kind.to_lowercase());
        let kind = GroupVersionKind::gvk("shop.example", "v1", kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &plural);
        Api::namespaced_with(self.cluster.client(), namespace, &resource)
    }
}

async fn run(cluster: &TestCluster, address: &str) -> Running {
    let register = |supervisor: SupervisorBuilder| {
        supervisor
            .register(config("websites", "Website"), sync)
            .register(config("databases", "Database"), sync)
            .serve(address)
    };
    cluster.run(register).await.unwrap()
}

fn config(name: &str, kind: &str) -> OperatorConfig {
    let parent = K8sType::namespaced("shop.example/v1", kind, name);
    OperatorConfig::new(name, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
        .with_deletion_limit(DeletionLimit {
            reconcile: Allowance { percent: 50, at_least: 0 },
            minute: Allowance { percent: 100, at_least: 0 },
        })
        .with_error_backoff(Duration::from_mins(1), Duration::from_mins(5))
}

fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    match spec["act"].as_str() {
        Some("fail") => {
            return Err(Error::msg("the image `registry.example/shop:lates` does not exist"));
        }
        Some("permanent") => {
            let why = "there is no theme `brutalism`: known are plain, paper and night";
            return Err(Permanent(why.to_owned()).into());
        }
        Some("empty") => return Ok(SyncResponse::status(json!({"pages": 0}))),
        _ => {}
    }
    let name = request.parent.name();
    let children = [
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("{name}-content")},
            "data": {"title": spec["title"]},
        }),
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("{name}-token")},
            "stringData": {"token": SENTINEL},
        }),
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]},
        }),
    ];
    let pages = request.children::<ConfigMap>().len();
    Ok(SyncResponse::status(json!({"pages": pages})).children(children))
}

fn crd(kind: &str, plural: &str) -> CustomResourceDefinition {
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.shop.example")},
        "spec": {
            "group": "shop.example",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": free, "status": free,
                }}},
            }],
        },
    }))
    .unwrap()
}
