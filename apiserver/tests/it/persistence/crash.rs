//! The program is killed in the middle of writes, several times.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{StreamExt, TryStreamExt, future::join_all};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::json;
use tokio::sync::Notify;

use super::folder::Folder;
use crate::common::{config_map, config_maps, create};

const ROUNDS: u64 = 6;
const WRITERS: usize = 6;
/// How many objects each writer creates, changes and deletes.
const NAMES: u64 = 4;

/// Objects by name: their version and value.
type Replica = BTreeMap<String, (u64, String)>;

/// What one writer knows: the value of each of its objects, and the write without an answer.
#[derive(Debug, Default, Clone)]
struct Known {
    acknowledged: BTreeMap<String, Option<String>>,
    unanswered: Option<(String, Option<String>)>,
    newest: u64,
}

#[operetta_harness::test]
async fn no_acknowledged_write_is_lost_when_the_program_is_killed_and_a_watch_continues() {
    let folder = Folder::new("crash");
    let mut random = 7;
    let mut known = vec![Known::default(); WRITERS];
    let mut watched: Option<(u64, Replica)> = None;
    for round in 0..=ROUNDS {
        let program = folder.program();
        let api = config_maps(&folder.client().await);
        let (version, stored) = list(&api).await;
        for known in &mut known {
            known.check(&stored);
            assert!(version >= known.newest, "{version} is older than {}", known.newest);
        }
        let mut watched_now = watched.take().unwrap_or((version, stored));
        follow(&api, &mut watched_now, &format!("marker-{round}")).await;
        assert_eq!(watched_now.1, list(&api).await.1, "the watch has seen every change");

        let watch = tokio::spawn(follow_to_the_end(api, watched_now));
        let kill_at = 20 + next(&mut random) % 300;
        let written = Arc::new((AtomicU64::new(0), Notify::new()));
        let mut writers = Vec::new();
        for (number, known) in known.iter().enumerate() {
            let api = config_maps(&folder.client().await);
            let seed = next(&mut random);
            let write = write(api, number, known.clone(), seed, Arc::clone(&written), kill_at);
            writers.push(tokio::spawn(write));
        }
        written.1.notified().await;
        program.kill();
        known = join_all(writers).await.into_iter().map(Result::unwrap).collect();
        watched = Some(watch.await.unwrap());
    }
}

/// Writes until the program does not answer any more.
async fn write(
    api: Api<DynamicObject>,
    number: usize,
    mut known: Known,
    mut random: u64,
    written: Arc<(AtomicU64, Notify)>,
    kill_at: u64,
) -> Known {
    loop {
        let name = format!("w{number}-{}", next(&mut random) % NAMES);
        let value = next(&mut random).to_string();
        let exists = known.acknowledged.get(&name).is_some_and(Option::is_some);
        let deletes = exists && next(&mut random).is_multiple_of(3);
        known.unanswered = Some((name.clone(), (!deletes).then(|| value.clone())));
        let Some(version) = step(&api, &name, &value, exists, deletes).await else { return known };
        assert!(version > known.newest, "{version} after {}", known.newest);
        known.newest = version;
        known.acknowledged.extend(known.unanswered.take());
        if written.0.fetch_add(1, Ordering::Relaxed) == kill_at {
            written.1.notify_one();
        }
    }
}

/// One write, and the version of it; nothing without an answer.
async fn step(
    api: &Api<DynamicObject>,
    name: &str,
    value: &str,
    exists: bool,
    deletes: bool,
) -> Option<u64> {
    let refused = |error: kube::Error| assert!(!matches!(error, kube::Error::Api(_)), "{error}");
    let version = |object: DynamicObject| version_of(&object);
    if deletes {
        let answer = api.delete(name, &DeleteParams::default()).await.map_err(refused).ok()?;
        assert!(answer.is_right());
        // A deletion answers without a version: ask for one that is not older.
        return list_version(api).await.map_err(refused).ok();
    }
    if exists {
        let patch = Patch::Merge(json!({"data": {"key": value}}));
        let patched = api.patch(name, &PatchParams::default(), &patch).await;
        return patched.map_err(refused).ok().map(version);
    }
    let object = serde_json::from_value(config_map(name, value)).unwrap();
    api.create(&kube::api::PostParams::default(), &object).await.map_err(refused).ok().map(version)
}

impl Known {
    /// Compares with what is stored, and learns whether the unanswered write happened.
    fn check(&mut self, stored: &Replica) {
        let unanswered = self.unanswered.take();
        for (name, value) in &mut self.acknowledged {
            let found = stored.get(name).map(|(_, value)| value.clone());
            let happened =
                unanswered.as_ref().is_some_and(|(other, new)| other == name && *new == found);
            assert!(found == *value || happened, "{name} is {found:?} instead of {value:?}");
            *value = found;
        }
        if let Some((name, _)) = unanswered {
            let found = stored.get(&name).map(|(_, value)| value.clone());
            self.acknowledged.insert(name, found);
        }
    }
}

/// Continues a watch until an object appears, which this creates.
async fn follow(api: &Api<DynamicObject>, (version, replica): &mut (u64, Replica), marker: &str) {
    let events = api.watch(&WatchParams::default(), &version.to_string()).await;
    let mut events = events.expect("it is watched").boxed();
    create(api, config_map(marker, "")).await;
    while !replica.contains_key(marker) {
        let event = events.try_next().await.expect("it continues").expect("it does not end");
        *version = note(replica, event);
    }
}

/// Continues a watch until the program is gone.
async fn follow_to_the_end(
    api: Api<DynamicObject>,
    (mut version, mut replica): (u64, Replica),
) -> (u64, Replica) {
    let events = api.watch(&WatchParams::default(), &version.to_string()).await;
    let mut events = events.expect("it is watched").boxed();
    while let Ok(Some(event)) = events.try_next().await {
        version = note(&mut replica, event);
    }
    (version, replica)
}

/// Applies an event; returns its version.
fn note(replica: &mut Replica, event: WatchEvent<DynamicObject>) -> u64 {
    match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) => {
            let (name, entry) = entry(&object);
            let version = entry.0;
            replica.insert(name, entry);
            version
        }
        WatchEvent::Deleted(object) => {
            replica.remove(&entry(&object).0).expect("it was there");
            version_of(&object)
        }
        other => panic!("{other:?}"),
    }
}

async fn list(api: &Api<DynamicObject>) -> (u64, Replica) {
    let list = api.list(&ListParams::default()).await.expect("it is listed");
    let version = list.metadata.resource_version.unwrap().parse().unwrap();
    (version, list.items.iter().map(entry).collect())
}

async fn list_version(api: &Api<DynamicObject>) -> Result<u64, kube::Error> {
    let list = api.list_metadata(&ListParams::default().limit(1)).await?;
    Ok(list.metadata.resource_version.unwrap().parse().unwrap())
}

fn entry(object: &DynamicObject) -> (String, (u64, String)) {
    let value = object.data["data"]["key"].as_str().unwrap_or_default().to_owned();
    (object.metadata.name.clone().unwrap(), (version_of(object), value))
}

fn version_of(object: &DynamicObject) -> u64 {
    object.metadata.resource_version.as_ref().unwrap().parse().unwrap()
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}
