//! The watch loops of a reflector: one for each scope, for ever.

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

/// What made a watch loop panic may do so again, at the same object.
const AFTER_A_PANIC: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_mins(1) };

/// A loop that went on for longer died of something else than the one before.
const LONG: Duration = Duration::from_mins(5);

impl Reflector {
    pub(super) fn start_loop(&self, scope: usize, ctx: &Context<Self>) -> AbortHandle {
        let (cluster, store) = (self.parts.cluster.clone(), self.parts.store.clone());
        let (spec, id) = (self.parts.scopes[scope].clone(), self.scopes[scope].id);
        let (reflector, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let note = move |note| post(&reflector, &mailbox, Noted { scope, note });
        let keep_going = async move {
            let mut died = 0;
            loop {
                let began = Instant::now();
                let watching =
                    watch(cluster.clone(), spec.clone(), store.clone(), id, note.clone());
                // A watch loop ends only by a panic, a bug of ours: the type must not die of it.
                if AssertUnwindSafe(watching).catch_unwind().await.is_err() {
                    tracing::error!(ty = %spec.ty, "a watch loop died; this is a bug");
                    cluster.metrics().watch_restarted(&spec.ty, "error");
                }
                died = if began.elapsed() > LONG { 1 } else { died + 1 };
                let retry_in = AFTER_A_PANIC.delay(died, 0);
                note(WatchNote::Lost);
                note(WatchNote::Failed { error: defect(&spec), retry_in });
                tokio::time::sleep(retry_in).await;
            }
        };
        self.parts.runtime.spawn(keep_going).abort_handle()
    }
}

fn defect(spec: &WatchSpec) -> ApiError {
    let why = "a defect of the framework: what it said is in the program's output".to_owned();
    ApiError::Malformed { request: format!("watch {}", spec.watched()), why }
}
