//! Requests and watch loops before servers that say too much, end, refuse, or have forgotten.

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
    metrics::Metrics,
    object::{K8sType, KeptManagers, Object, ObjectKey, ResourceVersion},
    store::{Settled, Store},
};

type Answer = BoxBody<bytes::Bytes, Infallible>;

/// A cluster whose API server answers each query with a code and a body.
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

/// An API server that answers everything with one line of so many MiB.
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

fn config_maps() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

fn streaming() -> ClusterSettings {
    ClusterSettings { streaming_lists: true, ..ClusterSettings::default() }
}

/// The store of a watch loop over all `ConfigMaps`.
fn looping(cluster: Cluster, note: impl Fn(WatchNote) + Send + Sync + 'static) -> Store {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    tokio::spawn(watch(cluster, spec, store.clone(), scope, note));
    store
}

/// What is said of a watch.
fn heard_of(cluster: Cluster) -> mpsc::UnboundedReceiver<WatchNote> {
    let (say, heard) = mpsc::unbounded_channel();
    looping(cluster, move |note| drop(say.send(note)));
    heard
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_given_up_on() {
    let key = ObjectKey::namespaced("ns", "a");
    let error = verbose(257).read(&config_maps(), &key).await.unwrap_err();
    assert!(matches!(error, ApiError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_line_of_a_watch_that_is_too_long_is_given_up_on() {
    let mut heard = heard_of(verbose(17).with_settings(streaming()));
    assert!(matches!(heard.recv().await, Some(WatchNote::Opened)));
    match heard.recv().await {
        Some(WatchNote::Failed { error: ApiError::Malformed { why, .. }, .. }) => {
            assert!(why.contains("longer than 16 MiB"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

/// What was asked for, and that it was told to be open.
type Words = mpsc::UnboundedSender<&'static str>;

/// A server whose lists are empty, and which ends every watch at once.
fn ending(words: Words) -> Cluster {
    served_by(move |query| {
        let _ = words.send(if is_watch(query) { "watch" } else { "list" });
        let bookmark = json!({"type": "BOOKMARK", "object": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"},
            },
        }});
        let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
        (200, line(if is_watch(query) { &bookmark } else { &list }))
    })
}

#[tokio::test]
async fn that_a_watch_is_open_is_told_unless_the_one_before_had_lasted_its_time() {
    let (short, long) = (Duration::ZERO, Timeouts::default().watch);
    for (streaming_lists, watch, expected) in [
        (false, short, &["list", "opened", "watch", "watch", "watch"][..]),
        (false, long, &["list", "opened", "watch", "watch", "opened"]),
        (true, short, &["watch", "opened", "watch", "watch"]),
        (true, long, &["watch", "opened", "watch", "opened"]),
    ] {
        let timeouts = Timeouts { watch, ..Timeouts::default() };
        let settings = ClusterSettings { timeouts, streaming_lists };
        assert_eq!(said(settings, expected.len()).await, expected, "{settings:?}");
    }
}

/// The first words between a watch loop and a server that ends every watch at once.
async fn said(settings: ClusterSettings, count: usize) -> Vec<&'static str> {
    let (say, mut heard) = mpsc::unbounded_channel();
    let cluster = ending(say.clone()).with_settings(settings);
    looping(cluster, move |note| {
        if matches!(note, WatchNote::Opened) {
            let _ = say.send("opened");
        }
    });
    let mut words = Vec::new();
    while words.len() < count {
        words.push(heard.recv().await.expect("the loop never ends"));
    }
    words
}

/// A server that cannot stream lists, with one object on each of two pages; where reading is slow,
/// the token for the second has expired.
fn paging(is_slow: bool, asked: mpsc::UnboundedSender<String>) -> Cluster {
    served_by(move |query| {
        let _ = asked.send(query.to_owned());
        let (code, answer) = match query {
            "limit=500" => (200, page(&["a"], "more")),
            "limit=500&continue=more" if is_slow => {
                (410, json!({"kind": "Status", "code": 410, "reason": "Expired"}))
            }
            "limit=500&continue=more" => (200, page(&["b"], "")),
            "" => (200, page(&["a", "b"], "")),
            _ => (400, json!({})),
        };
        (code, line(&answer))
    })
}

fn page(names: &[&str], next: &str) -> Value {
    let item = |name: &&str| json!({"metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"}});
    let items: Vec<_> = names.iter().map(item).collect();
    json!({"metadata": {"resourceVersion": "7", "continue": next}, "items": items})
}

#[tokio::test]
async fn a_list_is_read_in_pages_and_whole_when_the_token_of_the_next_has_expired() {
    let (first, next) = ("limit=500", "limit=500&continue=more");
    assert_eq!(lists_asked_of_two(ClusterSettings::default(), false).await, [first, next]);
    assert_eq!(lists_asked_of_two(ClusterSettings::default(), true).await, [first, next, ""]);
}

#[tokio::test]
async fn a_list_is_read_in_pages_from_a_server_that_cannot_stream_it() {
    let asked = lists_asked_of_two(streaming(), false).await;
    assert!(asked[0].contains("sendInitialEvents=true"), "{asked:?}");
    assert_eq!(asked[1..], ["limit=500", "limit=500&continue=more"]);
}

/// What is asked until both objects are read, and are watched from there.
async fn lists_asked_of_two(settings: ClusterSettings, is_slow: bool) -> Vec<String> {
    let (say, mut asked) = mpsc::unbounded_channel();
    let store = looping(paging(is_slow, say).with_settings(settings), |_| {});
    let mut queries = Vec::new();
    loop {
        let query = asked.recv().await.expect("the loop never ends");
        if query.ends_with("resourceVersion=7") {
            break;
        }
        queries.push(query);
    }
    let objects = store.reader().list();
    let names: Vec<&str> = objects.iter().map(Object::name).collect();
    assert_eq!(names, ["a", "b"]);
    queries
}

#[tokio::test]
async fn what_may_be_listed_and_not_watched_is_not_called_in_sync() {
    let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
    let cluster =
        served_by(
            move |query| {
                if is_watch(query) { (403, line(&json!({}))) } else { (200, line(&list)) }
            },
        );
    let mut heard = heard_of(cluster);
    loop {
        match heard.recv().await.expect("the loop never ends") {
            WatchNote::Failed { .. } => break,
            note => assert!(!matches!(note, WatchNote::Synced(_)), "{note:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_day_is_asked_again_sooner() {
    let serve = |_: Request<Body>| async {
        let asking = Response::builder().status(503).header("Retry-After", "86400");
        Ok(asking.body(answer(Vec::new())).unwrap())
    };
    let mut heard = heard_of(cluster(tower::service_fn(serve)));
    match heard.recv().await {
        Some(WatchNote::Failed { retry_in, .. }) => {
            assert_eq!(retry_in, Duration::from_mins(10), "it may be back before");
        }
        other => panic!("{other:?}"),
    }
}

/// A server with nothing in it that ends the first watch, refuses the second, and has nothing to
/// say in the third.
fn refusing_once() -> Cluster {
    let watches = Arc::new(AtomicUsize::new(0));
    let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
    served_by(move |query| {
        let number = is_watch(query).then(|| watches.fetch_add(1, Ordering::Relaxed) + 1);
        match number {
            None => (200, line(&list)),
            Some(1) => (200, answer(Vec::new())),
            Some(2) => (403, line(&json!({}))),
            Some(_) => (200, silent()),
        }
    })
}

/// A body that never says anything and never ends.
fn silent() -> Answer {
    StreamBody::new(futures::stream::pending::<Result<_, Infallible>>()).boxed()
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_failed_is_known_to_work_again_when_it_opens() {
    let mut heard = heard_of(refusing_once());
    loop {
        if let WatchNote::Failed { error, .. } = heard.recv().await.expect("the loop never ends") {
            break assert_eq!(error.code(), Some(403));
        }
    }
    assert!(matches!(heard.recv().await, Some(WatchNote::Opened)));
    let note = heard.recv().await;
    assert!(matches!(note, Some(WatchNote::Alive { .. })), "nothing else may ever come: {note:?}");
}

/// A server that has forgotten the version of its list when it is first watched from there.
fn forgetful(words: Words) -> Cluster {
    let forgets = Arc::new(AtomicBool::new(true));
    let serve = move |request: Request<Body>| {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=1"));
        let _ = words.send(if is_watch { "watch" } else { "list" });
        let (code, answer) = if is_watch && forgets.swap(false, Ordering::Relaxed) {
            (410, json!({"kind": "Status", "code": 410, "reason": "Expired"}))
        } else {
            (200, json!({"metadata": {"resourceVersion": "1"}, "items": []}))
        };
        // The second watch is one that says nothing.
        let body = if is_watch && code == 200 { String::new() } else { answer.to_string() };
        let body = Body::from(body.into_bytes());
        async move { Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap()) }
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    Cluster::new(client, Metrics::new(), KeptManagers::default())
}

/// Only then it is told that a list was taken in.
#[tokio::test]
async fn that_versions_went_back_is_told_although_a_second_list_followed() {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    store.bookmark(scope, &ResourceVersion::Number(5));
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let (words, _) = tokio::sync::mpsc::unbounded_channel();
    let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let note = move |note| drop(say.send(note));
    let watching = tokio::spawn(watch(forgetful(words), spec, store, scope, note));
    let settled = loop {
        if let WatchNote::Synced(settled) = heard.recv().await.expect("the loop never ends") {
            break settled;
        }
    };
    assert_eq!(settled, Settled::WentBack);
    watching.abort();
}

#[tokio::test]
async fn a_watch_that_is_refused_as_too_old_is_begun_with_a_list() {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let watching = tokio::spawn(watch(forgetful(say), spec, store, scope, |_| {}));
    for expected in ["list", "watch", "list", "watch"] {
        assert_eq!(heard.recv().await, Some(expected));
    }
    watching.abort();
}

/// It may be another one when it is served again.
#[tokio::test(start_paused = true)]
async fn a_type_that_is_served_again_is_begun_with_a_list() {
    let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let serve = move |request: Request<Body>| {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=1"));
        let _ = say.send(if is_watch { "watch" } else { "list" });
        let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
        let (code, answer) = if is_watch { (404, json!({})) } else { (200, list) };
        let body = Body::from(answer.to_string().into_bytes());
        async move { Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap()) }
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let watching = tokio::spawn(watch(cluster, spec, store, scope, |_| {}));
    for expected in ["list", "watch", "list", "watch"] {
        assert_eq!(heard.recv().await, Some(expected));
    }
    watching.abort();
}

#[tokio::test]
async fn what_goes_while_a_list_is_streamed_is_not_in_it() {
    let serve = |request: Request<Body>| async move {
        // The watch that follows says nothing.
        if !request.uri().query().is_some_and(|query| query.contains("sendInitialEvents")) {
            return std::future::pending().await;
        }
        let object = |name: &str| {
            json!({"metadata": {
                "name": name, "namespace": "ns", "uid": name, "resourceVersion": "1",
            }})
        };
        let annotations = json!({"k8s.io/initial-events-end": "true"});
        let end = json!({"metadata": {"resourceVersion": "9", "annotations": annotations}});
        let frames = [
            json!({"type": "ADDED", "object": object("a")}),
            json!({"type": "ADDED", "object": object("b")}),
            json!({"type": "DELETED", "object": object("a")}),
            json!({"type": "BOOKMARK", "object": end}),
        ];
        let lines = frames.map(|frame| format!("{frame}\n")).concat();
        Ok::<_, Infallible>(Response::new(Body::from(lines.into_bytes())))
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    let settings = ClusterSettings { streaming_lists: true, ..ClusterSettings::default() };
    let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let note = move |note| drop(say.send(note));
    let cluster = cluster.with_settings(settings);
    let watching = tokio::spawn(watch(cluster, spec, store.clone(), scope, note));
    while !matches!(heard.recv().await, Some(WatchNote::Synced(_))) {}
    let objects = store.reader().list();
    assert_eq!(objects.iter().map(Object::name).collect::<Vec<_>>(), ["b"]);
    watching.abort();
}
