//! What is done about a server that says more than anybody can keep.

use std::{collections::BTreeSet, convert::Infallible};

use http::{Request, Response};
use kube::{Client, client::Body};

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
