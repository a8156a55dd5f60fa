//! What etcd promises of watches, checked over the recorded streams of a server under concurrent load.
//!
//! ```text
//!  8 writers ─> server ─> the reference: one watch of everything
//!                      └> watches with a selector, resumed, with initial events ─> validators
//! ```

mod record;
mod validators;

use std::sync::Arc;

use futures::future::join_all;
use kube::{
    Client,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchParams},
};
use operetta_apiserver::Server;
use serde_json::json;
use tokio::sync::Semaphore;

use record::{LAST, Recorded, Stream, record};

use crate::common::config_maps;

const WRITERS: usize = 8;
const WRITES: usize = 200;
/// So many writes are answered before the late watches begin.
const EARLY_WRITES: u32 = 400;

fn config_map(name: &str, tier: &str, number: usize) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"tier": tier}},
        "data": {"number": number.to_string()},
    }))
    .unwrap()
}

/// Creates, changes and deletes objects that no other writer touches; returns the versions that were answered.
async fn write(client: Client, writer: usize, written: Arc<Semaphore>) -> Vec<u64> {
    let api = config_maps(&client);
    let mut versions = Vec::new();
    for number in 0..WRITES {
        let name = format!("w{writer}-{}", number % 3);
        let tier = if (number / 3) % 2 == 0 { "gold" } else { "tin" };
        let answer = match number / 3 % 4 {
            0 => api.create(&PostParams::default(), &config_map(&name, tier, number)).await,
            3 => {
                api.delete(&name, &DeleteParams::default()).await.unwrap();
                continue;
            }
            _ => {
                let change = json!({"metadata": {"labels": {"tier": tier}}, "data": {"number": number.to_string()}});
                api.patch(&name, &PatchParams::default(), &Patch::Merge(change)).await
            }
        };
        versions.push(answer.unwrap().metadata.resource_version.unwrap().parse().unwrap());
        written.add_permits(1);
    }
    versions
}

/// Records all streams while the writers write.
async fn recorded() -> Recorded {
    let server = Server::start();
    let client = server.client_as("watcher");
    let api = config_maps(&client);
    let from = server.resource_version();
    let gold = || WatchParams::default().labels("tier=gold");
    let all = || WatchParams::default();
    let named =
        |name: &'static str, parameters, resumed_after| Stream { name, parameters, resumed_after };
    let streams = [
        named("everything", all(), usize::MAX),
        named("a selection", gold(), usize::MAX),
        named("everything, resumed after each 7 events", all(), 7),
        named("a selection, resumed after each event", gold(), 1),
        named("other labels", WatchParams::default().labels("tier!=gold"), usize::MAX),
        named("one object", WatchParams::default().fields("metadata.name=w3-1"), usize::MAX),
    ];
    let watches = streams.map(|stream| tokio::spawn(record(api.clone(), stream, from)));
    let written = Arc::new(Semaphore::new(0));
    let writers = (0..WRITERS).map(|writer| {
        tokio::spawn(write(server.client_as("writer"), writer, Arc::clone(&written)))
    });
    let writers: Vec<_> = writers.collect();
    // In the middle of the writing, with the state as the first events.
    drop(written.acquire_many(EARLY_WRITES).await.unwrap());
    let late = ["everything with initial events", "a selection with initial events"]
        .into_iter()
        .zip([all(), gold()])
        .map(|(name, parameters)| named(name, parameters.initial_events(), usize::MAX));
    let late: Vec<_> = late.map(|stream| tokio::spawn(record(api.clone(), stream, 0))).collect();
    let acknowledged = join_all(writers).await.into_iter().flat_map(Result::unwrap).collect();
    let _ = api.delete(LAST, &DeleteParams::default()).await;
    for tier in ["tin", "gold"] {
        let change = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": LAST, "labels": {"tier": tier, "last": "yes"}}});
        api.patch(LAST, &PatchParams::apply("end"), &Patch::Apply(change)).await.unwrap();
    }
    let streams = join_all(watches.into_iter().chain(late)).await;
    Recorded { from, acknowledged, streams: streams.into_iter().map(Result::unwrap).collect() }
}

#[operetta_harness::test]
async fn watches_keep_the_promises_of_etcd_under_concurrent_load() {
    let recorded = recorded().await;
    let broken = validators::broken(&recorded);
    assert!(broken.is_empty(), "{broken:#?}");
    let count: usize = recorded.streams.iter().map(|stream| stream.events.len()).sum();
    assert!(count > WRITERS * WRITES, "{count} events are few");
}
