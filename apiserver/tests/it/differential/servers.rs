//! The two servers, and the same operations on both.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU32, Ordering},
};

use http::{Request, Response, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use operetta_apiserver::Server;
use operetta_controlplane::ControlPlane;
use serde_json::Value;

use super::{
    answer::{self, Answer},
    custom_types,
    difference::Difference,
    operation::{Memory, Operation, Sequence},
    watch::{self, Watch},
};
use crate::common::control_plane;

/// Who the servers take the client for.
pub(crate) const AGENT: &str = "differential/1.0";

pub(crate) struct Pair {
    embedded: Client,
    real: Client,
    _control_plane: ControlPlane,
    _server: Server,
}

impl Pair {
    /// Starts both, and defines the custom types.
    pub(crate) async fn start() -> Self {
        let control_plane = control_plane::own().await;
        let server = Server::builder().without_controller_manager().start();
        let pair = Self {
            embedded: server.client_as(AGENT),
            real: control_plane.client().unwrap(),
            _control_plane: control_plane,
            _server: server,
        };
        for definition in custom_types::definitions() {
            pair.define(&definition).await;
        }
        pair
    }

    async fn define(&self, definition: &Value) {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for client in [&self.embedded, &self.real] {
            let created = post(client, path, definition).await;
            assert!(created.status().is_success(), "{created:?}");
            let spec = &definition["spec"];
            let version = spec["versions"][0]["name"].as_str().unwrap();
            let plural = spec["names"]["plural"].as_str().unwrap();
            let served = format!("/apis/example.com/{version}/{plural}");
            while !get(client, &served).await.status().is_success() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Performs the operations in a new namespace, and returns what was answered differently. An object in a
    /// different state on both servers is not used again.
    pub(crate) async fn run(&self, sequence: &Sequence) -> Vec<Difference> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let namespace = format!("run{}x", NEXT.fetch_add(1, Ordering::Relaxed));
        let object = serde_json::json!({"metadata": {"name": namespace}});
        self.create("/api/v1/namespaces", &object).await;
        let mut embedded = Session { client: &self.embedded, memory: Memory::new() };
        let mut real = Session { client: &self.real, memory: Memory::new() };
        let mut watches = Vec::new();
        for watch in &sequence.watches {
            let embedded = watch.open(&self.embedded, &namespace).await;
            let real = watch.open(&self.real, &namespace).await;
            watches.push((watch, embedded, real));
        }
        let mut spoilt = BTreeSet::new();
        let mut differences = Vec::new();
        for (at, operation) in sequence.operations.iter().enumerate() {
            if is_spoilt(&spoilt, operation) {
                continue;
            }
            let (ours, theirs) = tokio::join!(
                embedded.perform(operation, &namespace),
                real.perform(operation, &namespace)
            );
            if let Some(difference) = Difference::between(at, operation, ours, theirs) {
                if difference.is_of_state() && operation.method != "GET" && !operation.is_dry_run()
                {
                    spoilt.insert(operation.object());
                }
                differences.push(difference);
            } else if is_left_to_controllers(operation, &embedded.memory) {
                spoilt.insert(operation.object());
            }
        }
        for (watch, embedded, real) in watches {
            if spoilt.contains(&format!("{}/", watch.collection)) {
                continue;
            }
            self.create(&watch.collection.replace("$ns", &namespace), &watch.end(&namespace)).await;
            let again = tokio::join!(embedded.again(&self.embedded), real.again(&self.real));
            let at = sequence.operations.len() - 1;
            for (what, ours, theirs) in
                [("", embedded, real), ("again from history: ", again.0, again.1)]
            {
                let events = tokio::join!(ours.events(), theirs.events());
                differences.extend(unlike_events(at, what, watch, &spoilt, events));
            }
        }
        differences
    }

    async fn create(&self, path: &str, object: &Value) {
        for client in [&self.embedded, &self.real] {
            let created = post(client, path, object).await;
            assert!(created.status().is_success(), "{path} {created:?}");
        }
    }
}

/// The first event in which two watches differ, without those of objects that differ already.
fn unlike_events(
    at: usize,
    what: &str,
    watch: &Watch,
    spoilt: &BTreeSet<String>,
    (mut ours, mut theirs): (Vec<Value>, Vec<Value>),
) -> Option<Difference> {
    for events in [&mut ours, &mut theirs] {
        events.retain(|event| {
            let name = watch::name(event).as_str().unwrap_or_default();
            !spoilt.contains(&format!("{}/{name}", watch.collection))
        });
    }
    let most = ours.len().max(theirs.len());
    let event = |events: &[Value], at: usize| events.get(at).cloned().unwrap_or(Value::Null);
    let first = (0..most).find(|at| event(&ours, *at) != event(&theirs, *at))?;
    let answer = |body| Answer { code: 200, media: String::new(), warnings: Vec::new(), body };
    let answers = [&ours, &theirs].map(|events| answer(event(events, first)));
    let [embedded, real] = answers;
    Difference::of(at, format!("{what}{}", watch.name()), embedded, real)
}

/// Whether the operation concerns an object, or a collection with one, that differs already.
fn is_spoilt(spoilt: &BTreeSet<String>, operation: &Operation) -> bool {
    let object = operation.object();
    if object.ends_with('/') {
        // A creation names its object in the body.
        return spoilt.iter().any(|it| it.starts_with(&object));
    }
    spoilt.contains(&object) || spoilt.contains(&format!("{}/", operation.collection))
}

/// Whether a controller continues with the object: the real control plane has none here.
fn is_left_to_controllers(operation: &Operation, memory: &Memory) -> bool {
    const HELD: [&str; 5] = [
        "Namespace",
        "PersistentVolume",
        "PersistentVolumeClaim",
        // Their dependents are orphaned by default.
        "Job",
        "ReplicationController",
    ];
    if operation.method == "DELETE" {
        return !operation.is_dry_run() && HELD.contains(&&*operation.kind);
    }
    let metadata = memory.get(&operation.object()).map(|object| &object["metadata"]);
    metadata.is_some_and(|metadata| {
        let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
        // The collector of garbage, and the controllers that protect volumes and claims.
        let is_theirs = |it: &Value| {
            let name = it.as_str().unwrap_or_default();
            matches!(name, "orphan" | "foregroundDeletion") || name.starts_with("kubernetes.io/pv")
        };
        let is_deleted = !metadata["deletionTimestamp"].is_null();
        is_deleted && (operation.kind == "Namespace" || finalizers.into_iter().any(is_theirs))
    })
}

struct Session<'a> {
    client: &'a Client,
    memory: Memory,
}

impl Session<'_> {
    async fn perform(&mut self, operation: &Operation, namespace: &str) -> Answer {
        let mut request = Request::builder()
            .method(operation.method)
            .uri(operation.uri(namespace, &self.memory))
            .header(header::USER_AGENT, AGENT);
        for (name, value) in
            [(header::ACCEPT, operation.accept), (header::CONTENT_TYPE, operation.media)]
        {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        let body = operation.bytes(namespace, &self.memory);
        let response = self.client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        self.remember(operation, &bytes, namespace);
        let text = |name| {
            let values = parts.headers.get_all(name).iter();
            values.map(|it: &http::HeaderValue| it.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let media = text(header::CONTENT_TYPE).concat();
        Answer {
            code: parts.status.as_u16(),
            body: answer::masked(&media, &bytes, namespace),
            media,
            warnings: text(header::WARNING).iter().map(|it| it.replace(namespace, "$ns")).collect(),
        }
    }

    /// Remembers an object as it was answered, unless it was a dry run or another form of it.
    fn remember(&mut self, operation: &Operation, bytes: &[u8], namespace: &str) {
        let is_object = operation.accept == "application/json" && !operation.is_dry_run();
        let Ok(object) = serde_json::from_slice::<Value>(bytes) else { return };
        if let Some(rest) = object["metadata"].get("continue").filter(|it| *it != "") {
            self.memory.insert(format!("{}/ rest", operation.collection), rest.clone());
        }
        if !is_object || object["kind"] != operation.kind.as_str() {
            return;
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let key = format!("{}/{}", operation.collection, name.replace(namespace, "$ns"));
        self.memory.insert(key, object);
    }
}

async fn post(client: &Client, path: &str, body: &Value) -> Response<Body> {
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, AGENT);
    client.send(request.body(Body::from(body.to_string().into_bytes())).unwrap()).await.unwrap()
}

async fn get(client: &Client, path: &str) -> Response<Body> {
    client.send(Request::get(path).body(Body::empty()).unwrap()).await.unwrap()
}
