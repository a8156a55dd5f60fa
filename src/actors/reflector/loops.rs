//! Starts the watch loops of a reflector, one for each scope.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use actix::{AsyncContext, Context};
use futures::FutureExt;
use tokio::task::AbortHandle;

use super::{Reflector, post};
use crate::{
    actors::messages::Noted,
    cluster::{WatchNote, WatchSpec, watch},
    reply::ApiError,
    schedule::Backoff,
};

/// The backoff after a panic of a watch loop, which may repeat at the same object.
const PANIC_BACKOFF: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_mins(1) };

/// A loop that ran for longer resets the backoff.
const LONG: Duration = Duration::from_mins(5);

impl Reflector {
    pub(super) fn start_loop(&self, scope: usize, ctx: &Context<Self>) -> AbortHandle {
        let (cluster, store) = (self.parts.cluster.clone(), self.parts.store.clone());
        let (spec, id) = (self.parts.scopes[scope].clone(), self.scopes[scope].id);
        let (reflector, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let note = move |note| post(&reflector, &mailbox, Noted { scope, note });
        let supervised = async move {
            let mut panics = 0;
            loop {
                let began = Instant::now();
                let watching =
                    watch(cluster.clone(), spec.clone(), store.clone(), id, note.clone());
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
        self.parts.runtime.spawn(supervised).abort_handle()
    }
}

fn internal_error(spec: &WatchSpec) -> ApiError {
    let why =
        "internal error: the watch loop panicked; the program's output has the message".to_owned();
    ApiError::Malformed { request: format!("watch {}", spec.watched()), why }
}
