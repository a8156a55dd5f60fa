//! The operator `database`, as somebody uses it: the children, the changes, the backups and the end.

mod backups;
mod changes;
mod creation;
mod deletion;
mod last_backup;
mod map;
mod protected_claims;
mod refused;

use std::pin::pin;

use futures::StreamExt;
use kube::api::{ListParams, WatchEvent, WatchParams};
use operetta::supervisor::SupervisorBuilder;
use serde_json::{Value, json};

use crate::{
    kubelet::{GROWING, Kubelet},
    world::*,
};

/// The operator on a cluster where Pods become ready.
struct Tenant {
    world: World,
    operators: Operators,
    kubelet: Kubelet,
}

impl Tenant {
    async fn start() -> Self {
        let world = World::with_workloads().await;
        let kubelet = Kubelet::play(&world).await;
        let operators = world.start(registered).await;
        Self { world, operators, kubelet }
    }

    /// The same after something happened while the operator did not run.
    async fn restarted(self, meanwhile: impl AsyncFnOnce(&World)) -> Self {
        let Self { world, operators, kubelet } = self;
        operators.stop().await;
        meanwhile(&world).await;
        let operators = world.start(registered).await;
        Self { world, operators, kubelet }
    }

    /// Creates the Database `main`, and waits until it is ready.
    async fn create(&self, spec: Value) -> Value {
        self.world.create(DATABASE, database("main", spec)).await;
        self.ready().await
    }

    /// Changes its specification, and waits until it is ready again.
    async fn change(&self, spec: Value) -> Value {
        self.world.patch(DATABASE, "main", json!({"spec": spec})).await;
        self.ready().await
    }

    /// The Database `main` once it is ready, and its operator has seen all that made it so.
    async fn ready(&self) -> Value {
        self.world.until_ready(DATABASE, "main").await;
        self.operators.running().settled().await;
        self.world.get(DATABASE, "main").await
    }

    /// The names of the objects of a type with their uids, in order.
    async fn uids(&self, kind: Kind) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = self.world.list(kind).await.into_iter();
        let mut all: Vec<_> =
            all.map(|it| (text(&it["metadata"]["name"]), text(&it["metadata"]["uid"]))).collect();
        all.sort();
        all
    }

    async fn names(&self, kind: Kind) -> Vec<String> {
        self.uids(kind).await.into_iter().map(|(name, _)| name).collect()
    }

    /// The version of the list of a type, from which its events are read later.
    async fn version(&self, kind: Kind) -> String {
        let list = self.world.api(kind).list(&ListParams::default()).await.unwrap();
        list.metadata.resource_version.unwrap()
    }

    /// The events of a type after a version, up to the last one.
    async fn events(&self, kind: Kind, from: &str, is_last: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let events = self.world.api(kind).watch(&WatchParams::default(), from).await.unwrap();
        let mut events = pin!(events);
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            let (object, is_gone) = match event.unwrap() {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(error) => panic!("{error}"),
            };
            let name = object.metadata.name.clone().unwrap();
            let object = serde_json::to_value(object).unwrap();
            seen.push(Seen { name, object, is_gone });
            if seen.last().is_some_and(&is_last) {
                break;
            }
        }
        seen
    }
}

fn registered(builder: SupervisorBuilder) -> SupervisorBuilder {
    operators::register_all(builder, vec![operators::database::operator()])
}

/// An object as an event showed it.
#[derive(Debug)]
struct Seen {
    name: String,
    object: Value,
    is_gone: bool,
}

fn database(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

fn standalone() -> Value {
    json!({"version": {"major": 17, "minor": 6}, "storage": {"size": "1Gi", "storageClassName": GROWING}})
}

fn highly_available() -> Value {
    with(standalone(), "replicas", json!(3))
}

fn with(mut spec: Value, name: &str, value: Value) -> Value {
    spec[name] = value;
    spec
}

/// The version of an object, as a number.
fn version_of(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

fn holds(object: &Value, ty: &str) -> bool {
    condition(object, ty)["status"] == "True"
}

/// Whether a claim stays until the last backup is made.
fn is_held(claim: &Value) -> bool {
    let finalizers = claim["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    finalizers.contains(&json!("database.operetta.dev/last-backup"))
}
