//! Requests and watch loops before servers that say too much, end, refuse, or have forgotten.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Request, Response};
use kube::{Client, client::Body};
use serde_json::json;

use super::*;
use crate::{
    metrics::Metrics,
    object::{K8sType, KeptManagers, Object, ObjectKey},
    store::Store,
};

/// A server that answers with one line of so many MiB.
fn verbose(mib: usize) -> Cluster {
    let serve = move |_: Request<Body>| async move {
        Ok::<_, Infallible>(Response::new(Body::from(vec![0; mib << 20])))
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    Cluster::new(client, Metrics::new(), KeptManagers::default())
}

fn config_maps() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_given_up_on() {
    let key = ObjectKey::namespaced("ns", "a");
    let error = verbose(257).read(&config_maps(), &key).await.unwrap_err();
    assert!(matches!(error, ApiError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_line_of_a_watch_that_is_too_long_is_given_up_on() {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let note = move |note| drop(say.send(note));
    let cluster = verbose(17)
        .with_settings(ClusterSettings { streaming_lists: true, ..ClusterSettings::default() });
    let watching = tokio::spawn(watch(cluster, spec, store, scope, note));
    assert!(matches!(heard.recv().await, Some(WatchNote::Opened)));
    match heard.recv().await {
        Some(WatchNote::Failed { error: ApiError::Malformed { why, .. }, .. }) => {
            assert!(why.contains("longer than 16 MiB"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    watching.abort();
}

/// What was asked for, and that it was told to be open.
type Words = tokio::sync::mpsc::UnboundedSender<&'static str>;

/// A server whose lists are empty, and which ends every watch at once.
fn ending(settings: ClusterSettings, words: Words) -> Cluster {
    let serve = move |request: Request<Body>| {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=1"));
        let _ = words.send(if is_watch { "watch" } else { "list" });
        let bookmark = json!({"type": "BOOKMARK", "object": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"},
            },
        }});
        let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
        let line = format!("{}\n", if is_watch { bookmark } else { list });
        async { Ok::<_, Infallible>(Response::new(Body::from(line.into_bytes()))) }
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    Cluster::new(client, Metrics::new(), KeptManagers::default()).with_settings(settings)
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
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let cluster = ending(settings, say.clone());
    let note = move |note| {
        if matches!(note, WatchNote::Opened) {
            let _ = say.send("opened");
        }
    };
    let watching = tokio::spawn(watch(cluster, spec, store, scope, note));
    let mut words = Vec::new();
    while words.len() < count {
        words.push(heard.recv().await.expect("the loop never ends"));
    }
    watching.abort();
    words
}

/// A server that cannot stream lists, with one object on each of two pages; the first token for the
/// second page has expired.
fn paging(settings: ClusterSettings, asked: tokio::sync::mpsc::UnboundedSender<String>) -> Cluster {
    let expired = Arc::new(AtomicBool::new(true));
    let serve = move |request: Request<Body>| {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let page = |name: &str, next: &str| {
            let metadata =
                json!({"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"});
            let list = json!({"resourceVersion": "7", "continue": next});
            json!({"metadata": list, "items": [{"metadata": metadata}]})
        };
        let (code, answer) = match query.as_str() {
            "limit=500" => (200, page("a", "more")),
            "limit=500&continue=more" if expired.swap(false, Ordering::Relaxed) => {
                (410, json!({"kind": "Status", "code": 410, "reason": "Expired"}))
            }
            "limit=500&continue=more" => (200, page("b", "")),
            _ => (400, json!({})),
        };
        let _ = asked.send(query);
        let body = Body::from(answer.to_string().into_bytes());
        async move { Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap()) }
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    Cluster::new(client, Metrics::new(), KeptManagers::default()).with_settings(settings)
}

#[tokio::test]
async fn a_list_is_read_in_pages_and_begun_anew_when_the_token_of_the_next_has_expired() {
    let (page, next) = ("limit=500", "limit=500&continue=more");
    assert_eq!(pages_asked_of_two(ClusterSettings::default()).await, [page, next, page, next]);
}

#[tokio::test]
async fn a_list_is_read_in_pages_from_a_server_that_cannot_stream_it() {
    let settings = ClusterSettings { streaming_lists: true, ..ClusterSettings::default() };
    let asked = pages_asked_of_two(settings).await;
    assert!(asked[0].contains("sendInitialEvents=true"), "{asked:?}");
    assert_eq!(asked.len(), 5);
}

/// What is asked until both pages are read, and are watched from there.
async fn pages_asked_of_two(settings: ClusterSettings) -> Vec<String> {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let (say, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let watching = tokio::spawn(watch(paging(settings, say), spec, store.clone(), scope, |_| {}));
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
    watching.abort();
    queries
}

#[tokio::test]
async fn what_may_be_listed_and_not_watched_is_not_called_in_sync() {
    let serve = |request: Request<Body>| async move {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=1"));
        let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
        let (code, answer) = if is_watch { (403, json!({})) } else { (200, list) };
        let body = Body::from(answer.to_string().into_bytes());
        Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
    let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let note = move |note| drop(say.send(note));
    let watching = tokio::spawn(watch(cluster, spec, store, scope, note));
    loop {
        match heard.recv().await.expect("the loop never ends") {
            WatchNote::Failed { .. } => break,
            note => assert!(!matches!(note, WatchNote::Synced(_)), "{note:?}"),
        }
    }
    watching.abort();
}
