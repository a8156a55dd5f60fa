//! What is done about a server that says more than anybody can keep.

use std::{collections::BTreeSet, convert::Infallible, time::Duration};

use http::{Request, Response};
use kube::{Client, client::Body};
use serde_json::json;

use super::*;
use crate::{
    metrics::Metrics,
    object::{K8sType, KeptManagers, ObjectKey},
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
    let watching = tokio::spawn(watch(verbose(17), spec, store, scope, note));
    assert!(matches!(heard.recv().await, Some(WatchNote::Opened)));
    match heard.recv().await {
        Some(WatchNote::Failed { error: ApiError::Malformed { why, .. }, .. }) => {
            assert!(why.contains("longer than 16 MiB"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    watching.abort();
}

/// That a watch was asked for, and then that it was told to be open.
type Words = tokio::sync::mpsc::UnboundedSender<&'static str>;

/// A server whose lists are empty, and which ends every watch at once.
fn ending(watch: Duration, words: Words) -> Cluster {
    let serve = move |_: Request<Body>| {
        let _ = words.send("asked");
        async {
            let line = json!({"type": "BOOKMARK", "object": {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                    "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"},
                },
            }});
            Ok::<_, Infallible>(Response::new(Body::from(format!("{line}\n").into_bytes())))
        }
    };
    let client = Client::new(tower::service_fn(serve), "ns");
    let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
    cluster.with_timeouts(Timeouts { watch, ..Timeouts::default() })
}

#[tokio::test]
async fn that_a_watch_is_open_is_told_unless_the_one_before_had_lasted_its_time() {
    for (time, expected) in [
        (Duration::ZERO, ["asked", "opened", "asked", "asked"]),
        (Timeouts::default().watch, ["asked", "opened", "asked", "opened"]),
    ] {
        let store = Store::new(config_maps(), BTreeSet::new());
        let scope = store.add_scope(None);
        let spec = WatchSpec { ty: config_maps(), namespace: None, label_selector: None };
        let (say, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let cluster = ending(time, say.clone());
        let note = move |note| {
            if matches!(note, WatchNote::Opened) {
                let _ = say.send("opened");
            }
        };
        let watching = tokio::spawn(watch(cluster, spec, store, scope, note));
        for word in expected {
            assert_eq!(heard.recv().await, Some(word), "watches of {time:?}");
        }
        watching.abort();
    }
}
