//! Runs a watch loop, and starts it again after a panic; and the words for its failures.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures::FutureExt;
use tokio::{runtime::Handle, task::AbortHandle};

use crate::{
    cluster::{Cluster, WatchNote, WatchSpec, Watched, watch},
    reply::{ApiError, ErrorClass},
    schedule::Backoff,
    store::{ScopeId, Store},
};

/// The backoff after a panic of a watch loop, which may repeat at the same object.
const PANIC_BACKOFF: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_mins(1) };

/// A watch that was never in sync is failing after so many failures in a row.
pub(super) const MAX_FAILURES: u32 = 3;

/// A watch that was in sync is failing after it has failed for so long.
pub(super) const DEGRADED_AFTER: Duration = Duration::from_mins(2);

/// A loop that ran for longer resets the backoff.
const LONG: Duration = Duration::from_mins(5);

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
