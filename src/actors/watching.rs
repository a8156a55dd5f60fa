//! Runs a watch loop for an actor, and starts it again after a panic; counts its failures, and has the words for them.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use actix::{Addr, Handler};
use futures::FutureExt;
use tokio::{runtime::Handle, task::AbortHandle};

use super::{
    backlog::{BacklogRecipient, Batch, Pending},
    mailbox::{Metered, Receive, post},
    messages::Noted,
};
use crate::{
    board::Board,
    cluster::{Cluster, WatchNote, WatchSpec, Watched, watch},
    execute::Alive,
    metrics::MailboxDepth,
    reply::{ApiError, ErrorClass},
    schedule::Backoff,
    store::{Change, ScopeId, Store},
};

/// What a reflector and its watch loops use.
pub(crate) struct WatchParts {
    pub(crate) cluster: Cluster,
    /// Where watch loops run.
    pub(crate) runtime: Handle,
    pub(crate) board: Board,
    pub(crate) mailbox: MailboxDepth,
    /// Held by the actor and its tasks.
    pub(crate) alive: Alive,
}

/// The failed attempts of a watch since its last success.
#[derive(Debug, Default)]
pub(super) struct Failures {
    pub(super) count: u32,
    /// When the first of them failed.
    pub(super) since: Option<Instant>,
}

/// The backoff after a panic of a watch loop, which may repeat at the same object.
const PANIC_BACKOFF: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_mins(1) };

/// A watch that was never in sync is failing after so many failures in a row.
pub(super) const MAX_FAILURES: u32 = 3;

/// A watch that was in sync is failing after it has failed for so long.
pub(super) const DEGRADED_AFTER: Duration = Duration::from_mins(2);

/// A loop that ran for longer resets the backoff.
const LONG: Duration = Duration::from_mins(5);

impl WatchParts {
    /// Starts a watch loop that reports to an actor: changes by its backlog, the rest as notes of this watch.
    pub(super) fn start<A, B, Of>(
        &self,
        to: Addr<A>,
        (spec, store, scope): (WatchSpec, Store, ScopeId),
        of: Of,
        batch: impl Fn(Arc<[Change]>) -> B + Clone + Send + Sync + 'static,
    ) -> AbortHandle
    where
        A: Receive<Pending<B>> + Handler<Metered<Pending<B>>>,
        A: Receive<Noted<Of>> + Handler<Metered<Noted<Of>>>,
        B: Batch,
        Of: Clone + Send + Sync + 'static,
    {
        let (mailbox, alive) = (self.mailbox.clone(), self.alive.clone());
        let backlog = BacklogRecipient::new(&to, &mailbox);
        let note = move |note| {
            alive.hold();
            match note {
                WatchNote::Changed(changes) => backlog.post(batch(changes.into())),
                note => post(&to, &mailbox, Noted { of: of.clone(), note }),
            }
        };
        start(&self.runtime, (self.cluster.clone(), spec), (store, scope), note)
    }
}

impl Failures {
    pub(super) fn add(&mut self, now: Instant) {
        self.count += 1;
        self.since.get_or_insert(now);
    }

    pub(super) fn are_many(&self) -> bool {
        self.count >= MAX_FAILURES
    }

    /// Whether the watch is failing. One that is in sync tolerates a lost connection for a while, but not a missing
    /// permission. One that was never in sync may fail a few times, because the storage of a new CRD takes a moment.
    pub(super) fn are_lasting(&self, error: &ApiError, was_synced: bool, now: Instant) -> bool {
        let lasts = |since: Instant| now.saturating_duration_since(since) >= DEGRADED_AFTER;
        let has_lasted = || self.since.is_some_and(lasts);
        is_refused(error) || (self.are_many() && (!was_synced || has_lasted()))
    }
}

/// Runs a watch loop that reports to a closure.
pub(super) fn start(
    runtime: &Handle,
    (cluster, spec): (Cluster, WatchSpec),
    (store, scope): (Store, ScopeId),
    note: impl Fn(WatchNote) + Clone + Send + Sync + 'static,
) -> AbortHandle {
    let supervised = async move {
        let mut panics = 0;
        loop {
            let began = Instant::now();
            let watching = watch(cluster.clone(), spec.clone(), store.clone(), scope, note.clone());
            // A watch loop ends only by a panic, which must not end the watch of the type.
            if AssertUnwindSafe(watching).catch_unwind().await.is_err() {
                tracing::error!(ty = %spec.ty, "a watch loop panicked; this is a bug in Operetta");
                cluster.metrics().watch_restarted(&spec.ty, "error");
            }
            panics = if began.elapsed() > LONG { 1 } else { panics + 1 };
            let retry_in = PANIC_BACKOFF.delay(panics, 0);
            note(WatchNote::Lost);
            note(WatchNote::Failed { error: internal_error(&spec), retry_in });
            tokio::time::sleep(retry_in).await;
        }
    };
    runtime.spawn(supervised).abort_handle()
}

fn internal_error(spec: &WatchSpec) -> ApiError {
    let why =
        "internal error: the watch loop panicked; the program's output has the message".to_owned();
    ApiError::Malformed { request: format!("watch {}", spec.watched()), why }
}

/// Whether an error requires manual intervention.
pub(super) fn is_refused(error: &ApiError) -> bool {
    matches!(error.class(), ErrorClass::Forbidden | ErrorClass::NotServed)
}

/// An error with what to do about it.
pub(super) fn why(watched: &Watched, error: &ApiError) -> String {
    match error.class() {
        ErrorClass::Forbidden => {
            let advice = watched.namespace.as_ref().map(|namespace| {
                format!(
                    " (bind a Role with it in {namespace}, or leave {namespace} out of the namespaces of the \
                     operator: within_namespaces, --namespaces)"
                )
            });
            let advice = advice.unwrap_or_default();
            format!("missing permission: get, list, watch on {watched}{advice}; {error}")
        }
        ErrorClass::NotServed => {
            let (name, version) = (watched.ty.resource_name(), watched.ty.version());
            format!(
                "the API server does not serve {name} in version {version}: install its CRD, or \
                 use a name and version that it serves; {error}"
            )
        }
        ErrorClass::Retry
        | ErrorClass::Conflict
        | ErrorClass::Missing
        | ErrorClass::Wait(_)
        | ErrorClass::Permanent => format!("{watched}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Refusal;

    #[test]
    fn what_was_in_sync_may_fail_for_longer_than_what_never_was() {
        let start = Instant::now();
        let error = ApiError::TimedOut { request: "watch".to_owned(), after: LONG };
        let mut failures = Failures::default();
        (1..MAX_FAILURES).for_each(|_| failures.add(start));
        assert!(!failures.are_lasting(&error, false, start + DEGRADED_AFTER), "they are few");
        failures.add(start + PANIC_BACKOFF.min);
        for (was_synced, now, expected) in
            [(false, start, true), (true, start, false), (true, start + DEGRADED_AFTER, true)]
        {
            assert_eq!(failures.are_lasting(&error, was_synced, now), expected, "{was_synced}");
        }
        let refusal = Box::new(Refusal::answered(403));
        let refused = ApiError::Refused { request: "watch".to_owned(), refusal };
        assert!(
            Failures::default().are_lasting(&refused, true, start),
            "nobody waits for a permission"
        );
    }
}
