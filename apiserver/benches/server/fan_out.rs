//! Many watches of the same objects.

use std::time::Instant;

use futures::{AsyncBufReadExt, StreamExt, future::join_all};
use kube::{Client, api::ListParams};
use tokio::task::JoinHandle;

use super::{config_maps, create_all, namespace};

const WATCHERS: usize = 200;
const WATCHED_CREATES: usize = 2_000;

/// Events per second that reach the watchers, from the first create to the last event.
pub(super) async fn measure(config: kube::Config, _: Vec<u32>) -> f64 {
    let client = Client::try_from(config.clone()).unwrap();
    namespace(&client, "watched").await;
    let mut watchers: Vec<JoinHandle<usize>> = Vec::new();
    for _ in 0..WATCHERS {
        watchers.push(watcher(client.clone(), "watched").await);
    }
    let begun = Instant::now();
    create_all(&client, "watched", WATCHED_CREATES).await;
    let events: usize = join_all(watchers).await.into_iter().map(Result::unwrap).sum();
    events as f64 / begun.elapsed().as_secs_f64()
}

/// Counts what is added from now on. Reads lines without their JSON: the client must not be what is measured.
async fn watcher(client: Client, namespace: &str) -> JoinHandle<usize> {
    let list = config_maps(client.clone(), namespace).list(&ListParams::default()).await.unwrap();
    let version = list.metadata.resource_version.unwrap();
    let uri = format!(
        "/api/v1/namespaces/{namespace}/configmaps?watch=true&timeoutSeconds=290&resourceVersion={version}"
    );
    let request = http::Request::get(uri).body(Vec::new()).unwrap();
    let mut lines = client.request_stream(request).await.unwrap().lines();
    tokio::spawn(async move {
        let mut added = 0;
        // A server may end the watch of a client that is too slow for it.
        while added < WATCHED_CREATES
            && let Some(Ok(line)) = lines.next().await
        {
            added += usize::from(line.starts_with(r#"{"type":"ADDED""#));
        }
        added
    })
}
