//! Requests and watch loops against servers that send too much, end streams, refuse, or have compacted.

mod deletions;
mod idle;
mod lists;
mod outages;
mod schemas;
mod streaming_unsupported;
mod watches;

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::{
    election::Fence,
    metrics::Metrics,
    object::{K8sType, KeptManagers, Object, ObjectKey, ResourceVersion},
    plan::ChildId,
    reply::ApiError,
    store::{Listed, Settled, Store},
};

type Answer = BoxBody<bytes::Bytes, Infallible>;

/// A cluster whose API server answers each query with a status code and a body.
fn served_by(serve: impl Fn(&str) -> (u16, Answer) + Send + 'static) -> Cluster {
    cluster(tower::service_fn(move |request: Request<Body>| {
        let (code, body) = serve(request.uri().query().unwrap_or_default());
        let answer = Response::builder().status(code).body(body).unwrap();
        async move { Ok::<_, Infallible>(answer) }
    }))
}

fn cluster<S>(server: S) -> Cluster
where
    S: tower::Service<Request<Body>, Response = Response<Answer>, Error = Infallible>,
    S: Send + 'static,
    S::Future: Send + 'static,
{
    Cluster::new(Client::new(server, "ns"), Metrics::new(), KeptManagers::default())
}

/// An API server that answers every request with one line of so many MiB.
fn verbose(mib: usize) -> Cluster {
    served_by(move |_| (200, answer(vec![0; mib << 20])))
}

fn is_watch(query: &str) -> bool {
    query.contains("watch=1")
}

fn answer(body: Vec<u8>) -> Answer {
    Full::from(body).boxed()
}

fn line(value: &Value) -> Answer {
    answer(format!("{value}\n").into_bytes())
}

/// An empty list.
fn empty() -> Value {
    json!({"metadata": {"resourceVersion": "1"}, "items": []})
}

fn item(name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"}})
}

/// A body that is empty and never ends.
fn silent() -> Answer {
    StreamBody::new(futures::stream::pending::<Result<_, Infallible>>()).boxed()
}

fn config_maps() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

fn all_config_maps() -> WatchSpec {
    WatchSpec::of(config_maps())
}

fn streaming() -> ClusterSettings {
    ClusterSettings { streaming_lists: true, ..ClusterSettings::default() }
}

/// The store of a watch loop over all `ConfigMaps`.
fn looping(cluster: Cluster, note: impl Fn(WatchNote) + Send + Sync + 'static) -> Store {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    tokio::spawn(watch(cluster, all_config_maps(), store.clone(), scope, note));
    store
}

/// The notes of a watch loop.
fn notes_of(cluster: Cluster) -> mpsc::UnboundedReceiver<WatchNote> {
    let (sender, received) = mpsc::unbounded_channel();
    looping(cluster, move |note| drop(sender.send(note)));
    received
}

#[tokio::test]
async fn a_request_names_the_program_the_framework_and_the_operator() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let cluster = cluster(tower::service_fn(move |request: Request<Body>| {
        let agents = request.headers().get_all(http::header::USER_AGENT).iter();
        let agents: Vec<String> = agents.map(|it| it.to_str().unwrap().to_owned()).collect();
        sender.send(agents).unwrap();
        let answer = Response::new(line(&item("a")));
        async move { Ok::<_, Infallible>(answer) }
    }));
    let key = ObjectKey::namespaced("ns", "a");
    let own = format!("operetta/{}", env!("CARGO_PKG_VERSION"));
    let named = cluster.clone().of_program("my program", "1.2\n");
    for (cluster, expected) in [
        (cluster.clone(), own.clone()),
        (cluster.in_the_name_of("echo"), format!("{own} (echo)")),
        (named.in_the_name_of("echo"), format!("my-program/1.2- {own} (echo)")),
    ] {
        cluster.read(&config_maps(), &key).await.unwrap();
        assert_eq!(received.recv().await.unwrap(), [expected]);
    }
}

/// Also where the connection is not fenced, as that of a client that the program made.
#[tokio::test]
async fn a_write_is_not_awaited_any_longer_when_the_fence_is_closed() {
    let fence = Fence::default();
    fence.set(Some(election_now().boot.plus(Duration::from_hours(1))));
    let (asked, mut is_asked) = mpsc::unbounded_channel();
    let cluster = cluster(tower::service_fn(move |_: Request<Body>| {
        asked.send(()).unwrap();
        std::future::pending::<Result<Response<Answer>, Infallible>>()
    }));
    let cluster = cluster.behind(fence.clone(), None);
    let child = ChildId { ty: config_maps(), key: ObjectKey::namespaced("ns", "a") };
    let writing = tokio::spawn(async move {
        cluster.patch_status(&child, "manager", &json!({"status": {}})).await
    });
    is_asked.recv().await.unwrap();
    assert!(fence.has_writes());
    fence.seal();
    let error = writing.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("no longer the leader"), "{error}");
    assert!(!fence.has_writes());
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_an_error() {
    let key = ObjectKey::namespaced("ns", "a");
    let error = verbose(257).read(&config_maps(), &key).await.unwrap_err();
    assert!(matches!(error, ApiError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_line_of_a_watch_that_is_too_long_is_an_error() {
    let mut received = notes_of(verbose(17).with_settings(streaming()));
    assert!(matches!(received.recv().await, Some(WatchNote::Opened)));
    match received.recv().await {
        Some(WatchNote::Failed { error: ApiError::Malformed { why, .. }, .. }) => {
            assert!(why.contains("longer than 16 MiB"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_times_out_is_counted_as_one_without_an_answer() {
    let serve = |_: Request<Body>| std::future::pending::<Result<Response<Answer>, Infallible>>();
    let cluster = cluster(tower::service_fn(serve));
    let key = ObjectKey::namespaced("ns", "a");
    let error = cluster.read(&config_maps(), &key).await.unwrap_err();
    assert!(matches!(error, ApiError::TimedOut { .. }), "{error}");
    let metrics = cluster.metrics().render();
    let counted = "operetta_api_requests_total{code=\"none\",type=\"configmaps\",verb=\"get\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
}

/// The kinds of requests that a server received.
type RequestKinds = mpsc::UnboundedSender<&'static str>;
