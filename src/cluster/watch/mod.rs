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
//!        +-- went back, or no watch gets on ---- list of one --> watch from the last version
//! ```
//!
//! A streamed list is a watch with `sendInitialEvents`: its events are collected until the
//! bookmark that ends them, then taken in as one list, and the same stream goes on as the watch.

mod intake;
mod lines;
mod start;
mod trouble;

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

/// How often it is told that the server says something.
const ALIVE_EVERY: Duration = Duration::from_secs(1);

/// A watch that ends earlier has not worked.
const SHORT_WATCH: Duration = Duration::from_secs(1);

/// Why a watch begins anew, as the metric says it.
const EXPIRED: &str = "expired";

/// The objects of a streamed list: one that changes meanwhile comes again.
type Streamed = BTreeMap<ObjectKey, Object>;

/// Why a stream ended.
enum End {
    /// All pages of a list were read: watch from its version.
    Listed,
    /// The server closed it: go on from the last version.
    Clean,
    /// It said nothing for long. Its connection may be dead; but of a type in which nothing happens
    /// a server says nothing at all, as it has no new version to tell.
    Silent,
    /// What came next is no longer known: list again. The reason is that of the metric.
    Gone(&'static str),
    /// The server does not stream lists, ended one before it was complete, or fell silent in it.
    CannotStream,
}

struct Loop<N> {
    cluster: Cluster,
    spec: WatchSpec,
    store: Store,
    scope: ScopeId,
    note: N,
    /// Where to go on; `None` means with a list.
    from: Option<ResourceVersion>,
    streams_lists: bool,
    /// How many objects are on a page of a list: fewer where so many were too much.
    page_size: u32,
    /// What a list came to that nobody was told of: it is not yet watched.
    settled: Option<Settled>,
    /// How many times in a row it failed.
    failures: u32,
    /// How many streams in a row ended as soon as they began.
    hurries: u32,
    /// How many streams ended since the server last said something that could be taken in.
    mute: u32,
    /// How many of these, up to the last, ended as soon as they began.
    quick: u32,
    /// Whether the stream before ended earlier than it was to, or there was none.
    is_cut: bool,
    /// When the stream was opened that is read in this turn.
    opened: Option<Instant>,
    /// When the server answered a look at it in this turn.
    answered: Option<Instant>,
    /// Whether the server may have gone back to an earlier version unnoticed: the stream before said
    /// nothing from its start to its end, or the server was not to be reached.
    is_doubtful: bool,
    /// Since when there has been no server to answer.
    out_since: Option<Instant>,
    /// When it was last said that the server is there, if that still holds.
    alive: Option<Instant>,
    /// When it was last listed.
    listed: Option<Instant>,
    /// Spreads its retries: many scopes lose their watches in the same moment.
    seed: u64,
}

/// Keeps a scope of a store up to date, for ever. `note` is called on the loop's task, in order.
pub async fn watch<N: Fn(WatchNote) + Send>(
    cluster: Cluster,
    spec: WatchSpec,
    store: Store,
    scope: ScopeId,
    note: N,
) {
    let streams_lists = cluster.settings().streaming_lists;
    let (from, settled, alive, is_cut) = (None, None, None, true);
    let (failures, hurries, mute, quick, opened, listed) = <_>::default();
    let (answered, is_doubtful, out_since) = <_>::default();
    let seed = RandomState::new().hash_one(());
    let mut looping = Loop {
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
        hurries,
        mute,
        quick,
        is_cut,
        opened,
        answered,
        is_doubtful,
        out_since,
        alive,
        listed,
        seed,
    };
    loop {
        looping.turn().await;
    }
}

impl<N: Fn(WatchNote) + Send> Loop<N> {
    /// One connection, from its start to its end.
    async fn turn(&mut self) {
        let started = Instant::now();
        (self.opened, self.answered) = (None, None);
        let end = match self.from.clone() {
            None if !self.streams_lists => self.list().await,
            Some(version) if self.is_doubtful => self.watch_again(version).await,
            from => self.stream(from).await,
        };
        // The watch that follows a list is not the first that is heard of the server.
        let is_listed = matches!(end, Ok(End::Listed));
        self.is_cut = !is_listed && started.elapsed() < self.cluster.settings().timeouts.watch;
        self.give_up_if_stuck(&end);
        match end {
            Ok(End::Listed) => {}
            Ok(End::CannotStream) => self.streams_lists = false,
            Ok(End::Gone(reason)) => {
                self.restart(reason);
                self.pause_before_list().await;
            }
            Ok(End::Clean) if self.has_lasted() => self.worked(),
            Ok(End::Clean) => self.pause_before_retry().await,
            Ok(End::Silent) => self.fell_silent(),
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
        (self.opened, self.is_doubtful) = (Some(Instant::now()), true);
        loop {
            if initial.is_none() && self.alive.is_none() {
                self.see_it_last(&mut lines).await?;
            }
            match self.next_line(&mut lines, &mut line).await {
                Ok(true) => self.is_doubtful = false,
                Ok(false) => break,
                // One that takes a streamed list for a watch like any other has nothing to say.
                Err(ApiError::TimedOut { .. }) if initial.is_some() => {
                    return Ok(End::CannotStream);
                }
                Err(ApiError::TimedOut { .. }) => return Ok(End::Silent),
                Err(error) => return Err(error),
            }
            let frame = frames::frame(&line, &self.spec.ty)
                .map_err(|error| ApiError::malformed(self.name(), &error))?;
            if let Some(end) = self.take(frame, &mut initial)? {
                return Ok(end);
            }
        }
        Ok(if initial.is_some() { End::CannotStream } else { End::Clean })
    }

    /// A server that ends every watch after a word is not to be asked in a tight loop either.
    fn advance(&mut self, version: ResourceVersion) {
        (self.mute, self.quick) = (0, 0);
        let has_lasted = self.has_lasted();
        if has_lasted {
            self.worked();
        }
        // After a failure a word says little: the next one may be that the version is too old.
        if has_lasted || self.alive.is_some() {
            self.alive();
        }
        self.from = Some(version);
    }

    /// Whether the stream of this turn has worked: what came before it may have taken its time too.
    fn has_lasted(&self) -> bool {
        self.opened.is_some_and(|at| at.elapsed() > SHORT_WATCH)
    }

    fn alive(&mut self) {
        if self.alive.is_none_or(|told| told.elapsed() >= ALIVE_EVERY) {
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

/// Whether a refusal may mean that the server does not know `sendInitialEvents`.
fn cannot_stream(error: &ApiError) -> bool {
    matches!(error.code(), Some(400 | 422))
}
