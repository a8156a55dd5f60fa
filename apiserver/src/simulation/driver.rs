//! Runs the simulated controllers: follows the log, asks for decisions, makes their writes.
//!
//! Nothing is polled: an object is decided about when a change may concern it, or at the time that its last
//! decision named. Decisions read the log itself, so that they see all earlier writes.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Weak,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc::UnboundedReceiver;

use super::{
    decide::decide, decision::Decision, item::Item, perform::perform, route, timing::WorkloadTiming,
};
use crate::{cluster::Cluster, log::Committed, shared::Shared};

/// How many revisions are read together, so that what several of them concern is decided about once.
const BATCH: usize = 1024;
/// How many objects are decided about before others may proceed.
const TURN: usize = 64;
/// How long an object rests after a write about it was refused.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// The objects to decide about, now and later.
#[derive(Debug, Default)]
struct Agenda {
    now: BTreeSet<Item>,
    times: HashMap<Item, Timestamp>,
    later: BTreeMap<Timestamp, BTreeSet<Item>>,
}

/// Runs until the server is dropped.
pub(crate) async fn run(
    server: Weak<Shared>,
    mut commits: UnboundedReceiver<Committed>,
    timing: WorkloadTiming,
) {
    let mut agenda = Agenda::default();
    let mut batch = Vec::new();
    agenda.now.extend(route::first());
    loop {
        let wait = {
            let Some(server) = server.upgrade() else { return };
            agenda.take_due(server.cluster.clock.now());
            agenda.take_turn(&server.cluster, timing);
            agenda.wait(server.cluster.clock.now())
        };
        // Lets others proceed on a single-threaded runtime.
        tokio::task::yield_now().await;
        tokio::select! {
            count = commits.recv_many(&mut batch, BATCH) => {
                if count == 0 {
                    return;
                }
            }
            () = tokio::time::sleep(wait) => {}
        }
        let Some(server) = server.upgrade() else { return };
        for committed in batch.drain(..) {
            agenda.now.extend(route::affected(&server.cluster, &committed));
        }
    }
}

impl Agenda {
    /// Decides about objects that are to be decided about now.
    fn take_turn(&mut self, cluster: &Cluster, timing: WorkloadTiming) {
        for _ in 0..TURN {
            let Some(item) = self.now.pop_first() else { return };
            let now = cluster.clock.now();
            let Decision { writes, mut again } = decide(cluster, &item, timing, now);
            for write in writes {
                let Err(refusal) = perform(cluster, write) else { continue };
                // A conflict comes from a change, which is a reason to decide again. What is forbidden is to
                // create something in a namespace that is being deleted.
                if !matches!(refusal.code, 403 | 404 | 409) {
                    tracing::warn!(kind = ?item.kind, key = ?item.key, why = refusal.message, "a simulated controller cannot write");
                    again = now.checked_add(RETRY).ok();
                    break;
                }
            }
            self.set_time(item, again);
        }
    }

    fn set_time(&mut self, item: Item, again: Option<Timestamp>) {
        if let Some(before) = self.times.remove(&item)
            && let Some(items) = self.later.get_mut(&before)
        {
            items.remove(&item);
            if items.is_empty() {
                self.later.remove(&before);
            }
        }
        if let Some(time) = again {
            self.times.insert(item.clone(), time);
            self.later.entry(time).or_default().insert(item);
        }
    }

    fn take_due(&mut self, now: Timestamp) {
        while let Some(entry) = self.later.first_entry().filter(|entry| *entry.key() <= now) {
            for item in entry.remove() {
                self.times.remove(&item);
                self.now.insert(item);
            }
        }
    }

    /// How long there is nothing to do.
    fn wait(&self, now: Timestamp) -> Duration {
        if !self.now.is_empty() {
            return Duration::ZERO;
        }
        let next = self.later.keys().next().copied();
        let next = next.map(|next| next.duration_since(now));
        // Without a time only a change is a reason to look again.
        next.map_or(Duration::from_hours(24), |next| Duration::try_from(next).unwrap_or_default())
    }
}
