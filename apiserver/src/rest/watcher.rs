//! One open watch: a cursor into the log that turns revisions into frames.
//!
//! Frames of plain watches are the bytes of the stored objects, shared with every other watch.
//! Ends at its timeout, when it is cut, or after an error frame.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use serde_json::json;
use tokio::{sync::watch, time::Instant};

use super::{accept::Accepted, beside, frames::Frames, selection::Selection};
use crate::{
    log::{Compacted, Event, Object, Revision},
    requests::OpenWatch,
    resource::Resource,
    shared::Shared,
    status::StatusError,
    table::TableOptions,
};

/// How often bookmarks are sent.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);
/// How long before the end of a watch the last one is sent.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// How many revisions are read at once.
const BATCH: usize = 256;

/// Where a watch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// With the current state, as additions; optionally followed by a bookmark.
    State { announce_end: bool },
    /// With revisions from now on.
    Head,
    /// With revisions after a version.
    After(u64),
}

/// What will be sent. Objects are shared with the log: their frames are made when they are needed.
enum Waiting {
    Frame(Bytes),
    State(Arc<Object>),
    Revision(Arc<Revision>),
}

/// What happens to a watch beside revisions.
enum Rare {
    /// Open watches are closed.
    Cut,
    /// There may be other types.
    Types(watch::Receiver<u64>),
    /// It is time for a bookmark, or for the end.
    Time,
}

/// One open watch.
pub(super) struct Watcher {
    server: Arc<Shared>,
    resource: Arc<Resource>,
    selection: Selection,
    frames: Frames,
    cursor: u64,
    queue: VecDeque<Waiting>,
    news: watch::Receiver<u64>,
    /// What is rare. Only what has happened is polled: a watch waits once for each event.
    rare: FuturesUnordered<BoxFuture<'static, Rare>>,
    deadline: Instant,
    next_bookmark: Option<Instant>,
    ended: bool,
    _open: OpenWatch,
}

impl Watcher {
    #[expect(clippy::too_many_arguments, reason = "one per parameter of a watch request")]
    pub(super) fn new(
        server: &Arc<Shared>,
        resource: Arc<Resource>,
        selection: Selection,
        start: Start,
        accepted: Accepted,
        table: TableOptions,
        deadline: Instant,
        bookmarks: bool,
        open: OpenWatch,
    ) -> Self {
        let log = &server.cluster.log;
        let mut watcher = Self {
            server: Arc::clone(server),
            news: log.subscribe(&resource.storage),
            rare: FuturesUnordered::new(),
            frames: Frames::new(
                Arc::clone(&server.rendered),
                Arc::clone(&resource),
                accepted,
                table,
            ),
            resource,
            selection,
            cursor: 0,
            queue: VecDeque::new(),
            deadline,
            next_bookmark: next_bookmark(deadline).filter(|_| bookmarks),
            ended: false,
            _open: open,
        };
        let mut cuts = server.cuts.subscribe();
        watcher.rare.push(Box::pin(async move {
            // Without a server there are no more events.
            let _ = cuts.changed().await;
            Rare::Cut
        }));
        if watcher.resource.is_custom() {
            watcher.rare.push(types(server.cluster.registry.subscribe()));
        }
        watcher.set_alarm();
        watcher.begin(start, bookmarks);
        watcher
    }

    /// A watch that ends with an error before it began.
    pub(super) fn failed(mut self, error: &StatusError) -> Self {
        self.queue.clear();
        self.end_with(error);
        self
    }

    fn begin(&mut self, start: Start, bookmarks: bool) {
        let log = &self.server.cluster.log;
        match start {
            Start::After(version) => self.cursor = version,
            Start::Head => self.cursor = log.head(),
            Start::State { announce_end } => {
                let (version, entries) = log.entries(&self.resource.storage, &self.selection.scope);
                self.cursor = version;
                for (key, object) in entries {
                    if self.selection.chooses(&key, &object) {
                        self.queue.push_back(Waiting::State(object));
                    }
                }
                if announce_end && bookmarks {
                    let annotations = json!({ "k8s.io/initial-events-end": "true" });
                    self.queue.push_back(Waiting::Frame(
                        self.frames.bookmark(version, Some(annotations)),
                    ));
                }
            }
        }
    }

    /// The next frame, or the end.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            // Others have their turn among many events.
            tokio::task::coop::consume_budget().await;
            self.learn().await;
            self.frames.set_now(self.server.cluster.clock.now());
            match self.queue.pop_front() {
                Some(Waiting::Frame(frame)) => return Some(frame),
                Some(Waiting::State(object)) => {
                    return Some(self.frames.object(Event::Added, &object));
                }
                Some(Waiting::Revision(revision)) => match self.frame(&revision) {
                    Some(frame) => return Some(frame),
                    None => continue,
                },
                None => {}
            }
            if self.ended {
                return None;
            }
            self.news.mark_unchanged();
            self.read();
            if self.queue.is_empty() && !self.ended {
                self.wait().await;
            }
        }
    }

    /// Converts what comes next, where a webhook does that; a failure ends the watch.
    async fn learn(&mut self) {
        if self.resource.converter().is_none() {
            return;
        }
        let objects = match self.queue.front() {
            Some(Waiting::State(object)) => vec![Arc::clone(object)],
            Some(Waiting::Revision(revision)) => {
                [Some(&revision.object), revision.previous.as_ref()]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect()
            }
            Some(Waiting::Frame(_)) | None => return,
        };
        if let Err(error) = beside::learn(&self.server, &self.resource, objects).await {
            self.queue.clear();
            self.end_with(&error);
        }
    }

    /// Reads revisions after the cursor into the queue.
    fn read(&mut self) {
        let served = self.follow_type();
        let log = &self.server.cluster.log;
        match log.revisions_after(&self.resource.storage, self.cursor, BATCH) {
            Ok((upto, revisions)) => {
                self.cursor = upto;
                // The watch ends with the type, after all its events.
                self.ended = !served && revisions.is_empty();
                self.queue.extend(revisions.into_iter().map(Waiting::Revision));
            }
            Err(Compacted { oldest }) => {
                self.end_with(&StatusError::expired(self.cursor, oldest));
            }
        }
    }

    /// Waits for a revision, the time of a bookmark, or the end.
    async fn wait(&mut self) {
        tokio::select! {
            biased;
            Some(rare) = self.rare.next() => match rare {
                Rare::Cut => self.ended = true,
                Rare::Types(receiver) => self.rare.push(types(receiver)),
                Rare::Time => self.tick(),
            },
            _ = self.news.changed() => {}
        }
    }

    /// Sends a bookmark, or ends.
    fn tick(&mut self) {
        let now = Instant::now();
        if self.next_bookmark.is_some_and(|at| now >= at) {
            self.queue.push_back(Waiting::Frame(self.frames.bookmark(self.cursor, None)));
            self.next_bookmark = next_bookmark(self.deadline);
        }
        self.ended = now >= self.deadline;
        self.set_alarm();
    }

    fn set_alarm(&self) {
        let next = self.next_bookmark.unwrap_or(self.deadline).min(self.deadline);
        self.rare.push(Box::pin(async move {
            tokio::time::sleep_until(next).await;
            Rare::Time
        }));
    }

    /// The event of a revision for the selection.
    fn frame(&mut self, revision: &Revision) -> Option<Bytes> {
        let Revision { event, key, previous, object, version } = revision;
        let chosen = |object| self.selection.chooses(key, object);
        let before = previous.as_deref().is_some_and(chosen);
        let after = *event != Event::Deleted && chosen(object);
        match (before, after) {
            (false, false) => None,
            (false, true) => Some(self.frames.object(Event::Added, object)),
            (true, true) => Some(self.frames.object(Event::Modified, object)),
            (true, false) if *event == Event::Deleted => {
                Some(self.frames.object(Event::Deleted, object))
            }
            // It left the selection, which is a deletion with its last state.
            (true, false) => Some(self.frames.left(previous.as_deref()?, *version)),
        }
    }

    /// Continues with a changed type; returns whether the type is still served.
    fn follow_type(&mut self) -> bool {
        if !self.resource.is_custom() {
            return true;
        }
        let resources = self.server.cluster.registry.snapshot();
        let id = &self.resource.id;
        match resources.by_path(&id.group, &self.resource.version, &id.plural) {
            Some(resource) if Arc::ptr_eq(resource, &self.resource) => true,
            // After a change of the schema clients watch again.
            Some(resource) if resource.epoch != self.resource.epoch => false,
            Some(resource) => {
                self.resource = Arc::clone(resource);
                self.frames.set_resource(Arc::clone(resource));
                true
            }
            None => false,
        }
    }

    fn end_with(&mut self, error: &StatusError) {
        self.queue.push_back(Waiting::Frame(self.frames.error(error)));
        self.ended = true;
    }
}

/// Waits for other types than now.
fn types(mut receiver: watch::Receiver<u64>) -> BoxFuture<'static, Rare> {
    Box::pin(async move {
        // Without a registry there is no server.
        let _ = receiver.changed().await;
        Rare::Types(receiver)
    })
}

/// When the next bookmark is sent to a watch that ends at this time, if any is.
fn next_bookmark(deadline: Instant) -> Option<Instant> {
    let (now, last) = (Instant::now(), deadline.checked_sub(LAST_BOOKMARK)?);
    (last > now).then(|| last.min(now + BOOKMARK_INTERVAL))
}
