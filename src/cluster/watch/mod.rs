//! The watch loop of one scope: it keeps a store equal to what the server holds.
//!
//! ```text
//!        +--------- 410, or no version yet ----------+
//!        v                                           |
//!   list (pages, or streamed) ---version---> watch --+--clean end--> watch from the last version
//!        ^                                           |
//!        |                                error (after a backoff) or silence
//!        |                                           |
//!        |                                           v
//!        +-- regressed, or no progress --------- list of one --> watch from the last version
//! ```
//!
//! A streamed list is a watch with `sendInitialEvents`: its events are collected until the
//! bookmark that ends them, then processed as one list, and the same stream continues as the watch.

mod events;
mod failures;
mod lines;
mod start;

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::{Cluster, WatchNote, WatchSpec, frames, list::PAGE_SIZE};
use crate::{
    object::{Object, ObjectKey, ResourceVersion},
    reply::ApiError,
    store::{ScopeId, Settled, Store},
};

/// How often `WatchNote::Alive` is sent at most.
const ALIVE_EVERY: Duration = Duration::from_secs(1);

/// A stream that ends earlier counts as failed.
const SHORT_STREAM: Duration = Duration::from_secs(1);

/// The reason for a new list, as the label of the metric.
const EXPIRED: &str = "expired";

/// The objects of a streamed list so far.
type Streamed = BTreeMap<ObjectKey, Object>;

/// Why a stream ended.
enum End {
    /// All pages of a list were read: watch from its version.
    Listed,
    /// The server closed it: continue from the last version.
    Clean,
    /// It was silent for too long. The connection may be dead, but servers also send nothing for a type
    /// without changes, as they have no new version for a bookmark.
    Silent,
    /// Events may be missing: list again. The reason is the label of the metric.
    Gone(&'static str),
    /// The server does not stream lists, or ended one or became silent before it was complete.
    CannotStream,
}

struct Loop<N> {
    cluster: Cluster,
    spec: WatchSpec,
    store: Store,
    scope: ScopeId,
    note: N,
    /// The version to continue from; `None` requires a list.
    from: Option<ResourceVersion>,
    streams_lists: bool,
    /// How many objects are on a page of a list; reduced when a page was too large.
    page_size: u32,
    /// The result of a list that is noted when its watch opens.
    settled: Option<Settled>,
    /// How many attempts in a row failed.
    failures: u32,
    /// How many streams in a row ended soon after their start.
    short_streams: u32,
    /// How many streams ended since the last event that could be processed.
    idle_streams: u32,
    /// How many of the last of these ended soon after their start.
    idle_short_streams: u32,
    /// Whether the previous stream ended before its timeout, or there was none.
    is_cut: bool,
    /// When the stream of this turn was opened.
    opened: Option<Instant>,
    /// When the server answered the list of one object in this turn.
    answered: Option<Instant>,
    /// Whether the server's versions may have regressed unnoticed: the previous stream was silent from
    /// its start to its end, or the server was unreachable.
    may_have_regressed: bool,
    /// Since when the server has been unreachable.
    outage_since: Option<Instant>,
    /// When `WatchNote::Alive` was last sent; `None` after a failure.
    alive: Option<Instant>,
    /// When the last list was complete.
    listed: Option<Instant>,
    /// Spreads the retries: many scopes lose their watches at the same moment.
    seed: u64,
}

/// Keeps a scope of a store up to date; never returns. `note` is called on the loop's task, in order.
pub(crate) async fn watch<N: Fn(WatchNote) + Send>(
    cluster: Cluster,
    spec: WatchSpec,
    store: Store,
    scope: ScopeId,
    note: N,
) {
    let streams_lists = cluster.settings().streaming_lists;
    let (from, settled, alive, is_cut) = (None, None, None, true);
    let (failures, short_streams, idle_streams, idle_short_streams) = <_>::default();
    let (opened, listed) = <_>::default();
    let (answered, may_have_regressed, outage_since) = <_>::default();
    let seed = RandomState::new().hash_one(());
    let mut watch_loop = Loop {
        cluster,
        spec,
        store,
        scope,
        note,
        from,
        streams_lists,
        page_size: PAGE_SIZE,
        settled,
        failures,
        short_streams,
        idle_streams,
        idle_short_streams,
        is_cut,
        opened,
        answered,
        may_have_regressed,
        outage_since,
        alive,
        listed,
        seed,
    };
    loop {
        watch_loop.turn().await;
    }
}

impl<N: Fn(WatchNote) + Send> Loop<N> {
    /// Opens one connection and reads it to its end.
    async fn turn(&mut self) {
        let started = Instant::now();
        (self.opened, self.answered) = (None, None);
        let end = match self.from.clone() {
            None if !self.streams_lists => self.list().await,
            Some(version) if self.may_have_regressed => self.resume(version).await,
            from => self.stream(from).await,
        };
        // `WatchNote::Opened` was sent for the list that the next watch follows.
        let is_listed = matches!(end, Ok(End::Listed));
        self.is_cut = !is_listed && started.elapsed() < self.cluster.settings().timeouts.watch;
        self.relist_if_stuck(&end);
        match end {
            Ok(End::Listed) => {}
            Ok(End::CannotStream) => self.streams_lists = false,
            Ok(End::Gone(reason)) => {
                self.restart(reason);
                self.pause_before_list().await;
            }
            Ok(End::Clean) if self.has_lasted() => self.reset_failures(),
            Ok(End::Clean) => self.pause_before_retry().await,
            Ok(End::Silent) => self.silent(),
            Err(error) => self.fail(error, started).await,
        }
    }

    /// Watches from a version, or from a streamed list.
    async fn stream(&mut self, from: Option<ResourceVersion>) -> Result<End, ApiError> {
        let mut initial =
            from.is_none().then(|| (self.store.begin_list(self.scope), Streamed::new()));
        let mut lines = match self.open_watch(from.as_ref()).await {
            Ok(lines) => lines,
            Err(error) if initial.is_some() && cannot_stream(&error) => {
                return Ok(End::CannotStream);
            }
            Err(error) if error.code() == Some(410) => return Ok(End::Gone(EXPIRED)),
            Err(error) => return Err(error),
        };
        self.watched();
        let mut line = Vec::new();
        (self.opened, self.may_have_regressed) = (Some(Instant::now()), true);
        loop {
            if initial.is_none() && self.alive.is_none() {
                self.confirm_recovery(&mut lines).await?;
            }
            match self.next_line(&mut lines, &mut line).await {
                Ok(true) => self.may_have_regressed = false,
                Ok(false) => break,
                // A server that ignores `sendInitialEvents` stays silent.
                Err(ApiError::TimedOut { .. }) if initial.is_some() => {
                    return Ok(End::CannotStream);
                }
                Err(ApiError::TimedOut { .. }) => return Ok(End::Silent),
                Err(error) => return Err(error),
            }
            let frame = frames::frame(&line, &self.spec.ty)
                .map_err(|error| ApiError::malformed(self.name(), &error))?;
            if let Some(end) = self.receive(frame, &mut initial)? {
                return Ok(end);
            }
        }
        Ok(if initial.is_some() { End::CannotStream } else { End::Clean })
    }

    /// Failures are reset only after a while: some servers end every watch after one event.
    fn advance(&mut self, version: ResourceVersion) {
        (self.idle_streams, self.idle_short_streams) = (0, 0);
        let has_lasted = self.has_lasted();
        if has_lasted {
            self.reset_failures();
        }
        // After a failure the next line may be the error that the version is too old.
        if has_lasted || self.alive.is_some() {
            self.alive();
        }
        self.from = Some(version);
    }

    /// Whether the stream of this turn was open for long enough, not counting the time to open it.
    fn has_lasted(&self) -> bool {
        self.opened.is_some_and(|at| at.elapsed() > SHORT_STREAM)
    }

    fn alive(&mut self) {
        if self.alive.is_none_or(|reported| reported.elapsed() >= ALIVE_EVERY) {
            self.alive = Some(Instant::now());
            (self.note)(WatchNote::Alive { at: SystemTime::now() });
        }
    }

    fn opened(&self) {
        if self.is_cut {
            (self.note)(WatchNote::Opened);
        }
    }

    fn name(&self) -> String {
        self.spec.request("watch").name()
    }

    fn malformed(&self, why: &str) -> ApiError {
        ApiError::Malformed { request: self.name(), why: why.to_owned() }
    }
}

/// Whether an error may mean that the server does not support `sendInitialEvents`.
fn cannot_stream(error: &ApiError) -> bool {
    matches!(error.code(), Some(400 | 422))
}
