//! The watch loops of a reflector: one for each scope, for ever.

use std::{panic::AssertUnwindSafe, time::Duration};

use actix::{AsyncContext, Context};
use futures::FutureExt;
use tokio::task::AbortHandle;

use super::{Reflector, post};
use crate::{actors::messages::Noted, cluster::watch};

/// What made a watch loop panic may do so again.
const AFTER_A_PANIC: Duration = Duration::from_secs(1);

impl Reflector {
    pub(super) fn start_loop(&self, scope: usize, ctx: &Context<Self>) -> AbortHandle {
        let (cluster, store) = (self.parts.cluster.clone(), self.parts.store.clone());
        let (spec, id) = (self.parts.scopes[scope].clone(), self.scopes[scope].id);
        let (reflector, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let keep_going = async move {
            loop {
                let (reflector, mailbox) = (reflector.clone(), mailbox.clone());
                let note = move |note| post(&reflector, &mailbox, Noted { scope, note });
                let watching = watch(cluster.clone(), spec.clone(), store.clone(), id, note);
                // A watch loop ends only by a panic, a bug of ours: the type must not die of it.
                if AssertUnwindSafe(watching).catch_unwind().await.is_err() {
                    tracing::error!(ty = %spec.ty, "a watch loop died; this is a bug");
                }
                tokio::time::sleep(AFTER_A_PANIC).await;
            }
        };
        self.parts.runtime.spawn(keep_going).abort_handle()
    }
}
