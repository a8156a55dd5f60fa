//! A server with simulated workloads, and waiting for states of its objects.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, WatchEvent, WatchParams},
};
use operetta_apiserver::{Server, WorkloadTiming};
use serde_json::{Value, json};

use crate::common::{api, create};

/// How long a state may take.
const DEADLINE: Duration = Duration::from_mins(1);
/// The same with a paused clock, which moves by itself when nothing else happens.
const PAUSED_DEADLINE: Duration = Duration::from_hours(24);

/// A server, and a client of it.
pub(crate) struct World {
    pub(crate) client: Client,
    deadline: Duration,
    _server: Server,
}

impl World {
    /// Everything happens at once.
    pub(crate) fn immediate() -> Self {
        Self::with(WorkloadTiming::immediate())
    }

    pub(crate) fn with(timing: WorkloadTiming) -> Self {
        Self::of(Server::builder().simulate_workloads(timing).start())
    }

    /// A world of a server that simulates workloads.
    pub(crate) fn of(server: Server) -> Self {
        Self { client: server.client_as("test/1.0"), deadline: DEADLINE, _server: server }
    }

    /// The same for a test whose clock is paused.
    pub(crate) fn paused(timing: WorkloadTiming) -> Self {
        Self { deadline: PAUSED_DEADLINE, ..Self::with(timing) }
    }

    /// The objects of a kind in the default namespace, or of the cluster.
    pub(crate) fn api(&self, kind: &str) -> Api<DynamicObject> {
        let (version, namespace) = match kind {
            "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "ControllerRevision" => {
                ("apps/v1", "default")
            }
            "Job" | "CronJob" => ("batch/v1", "default"),
            "EndpointSlice" => ("discovery.k8s.io/v1", "default"),
            "HorizontalPodAutoscaler" => ("autoscaling/v2", "default"),
            "StorageClass" => ("storage.k8s.io/v1", ""),
            "Node" | "PersistentVolume" => ("v1", ""),
            _ => ("v1", "default"),
        };
        api(&self.client, version, kind, namespace)
    }

    pub(crate) async fn create(&self, object: Value) -> Value {
        let kind = object["kind"].as_str().unwrap().to_owned();
        value(create(&self.api(&kind), object).await)
    }

    pub(crate) async fn get(&self, kind: &str, name: &str) -> Value {
        value(self.api(kind).get(name).await.unwrap())
    }

    /// The objects of a kind, sorted by name.
    pub(crate) async fn list(&self, kind: &str) -> Vec<Value> {
        let list = self.api(kind).list(&ListParams::default()).await.unwrap();
        list.items.into_iter().map(value).collect()
    }

    /// The names of the objects of a kind.
    pub(crate) async fn names(&self, kind: &str) -> Vec<String> {
        let objects = self.list(kind).await;
        objects.iter().map(|it| it["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) async fn patch(&self, kind: &str, name: &str, patch: Value) -> Value {
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        value(self.api(kind).patch(name, &params, &patch).await.unwrap())
    }

    pub(crate) async fn delete(&self, kind: &str, name: &str) {
        self.api(kind).delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Waits until an object is in a state; returns it.
    pub(crate) async fn until(
        &self,
        kind: &str,
        name: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        self.any(kind, |object| object["metadata"]["name"] == name && is_so(object)).await
    }

    /// Waits until some object of a kind is in a state; returns it.
    pub(crate) async fn any(&self, kind: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let is_there = |event: &WatchEvent<_>, object: &Value| {
            !matches!(event, WatchEvent::Deleted(_)) && is_so(object)
        };
        self.event_after("0", kind, is_there).await
    }

    /// Waits until an object of a kind is gone or going, since a write was answered with this object.
    pub(crate) async fn one_goes_after(&self, written: &Value, kind: &str) -> Value {
        let version = written["metadata"]["resourceVersion"].as_str().unwrap();
        // It can be gone before this watch begins, so that only the events since the write tell.
        let goes = |event: &WatchEvent<_>, object: &Value| {
            matches!(event, WatchEvent::Deleted(_))
                || !object["metadata"]["deletionTimestamp"].is_null()
        };
        self.event_after(version, kind, goes).await
    }

    /// Waits for an event of an object of a kind after a version; returns the object.
    async fn event_after(
        &self,
        version: &str,
        kind: &str,
        is_it: impl Fn(&WatchEvent<DynamicObject>, &Value) -> bool,
    ) -> Value {
        let api = self.api(kind);
        let mut events = api.watch(&WatchParams::default(), version).await.unwrap().boxed();
        let mut seen = Value::Null;
        let found = async {
            while let Some(event) = events.try_next().await.unwrap() {
                if let WatchEvent::Added(object)
                | WatchEvent::Modified(object)
                | WatchEvent::Deleted(object) = &event
                {
                    seen = value(object.clone());
                    if is_it(&event, &seen) {
                        return;
                    }
                }
            }
        };
        let outcome = tokio::time::timeout(self.deadline, found).await;
        assert!(outcome.is_ok(), "no {kind} came to the state; the last seen is\n{seen:#}");
        seen
    }

    /// Waits until an object is gone.
    pub(crate) async fn gone(&self, kind: &str, name: &str) {
        let api = self.api(kind);
        let gone = crate::common::gone(&api, name);
        let outcome = tokio::time::timeout(self.deadline, gone).await;
        assert!(outcome.is_ok(), "{kind} {name} is still there");
    }
}

fn value(object: DynamicObject) -> Value {
    serde_json::to_value(object).unwrap()
}

/// A template with labels `app: NAME`.
pub(crate) fn template(name: &str) -> Value {
    json!({
        "metadata": { "labels": { "app": name } },
        "spec": { "containers": [{ "name": "main", "image": "image:1" }] },
    })
}

/// A workload that selects the Pods of its template.
pub(crate) fn workload(api_version: &str, kind: &str, name: &str, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "selector": { "matchLabels": { "app": name } }, "template": template(name) },
    });
    for (field, value) in spec.as_object().unwrap() {
        object["spec"][field] = value.clone();
    }
    object
}

/// A condition of an object.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().find(|it| it["type"] == kind).unwrap_or(&Value::Null)
}

/// Whether a condition of an object is `True`.
pub(crate) fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind)["status"] == "True"
}
