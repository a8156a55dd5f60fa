//! Starts the watch loops of a reflector, one for each scope.

use actix::{AsyncContext, Context};
use tokio::task::AbortHandle;

use super::{Reflector, Scope, post};
use crate::{
    actors::{
        BacklogRecipient,
        messages::{Noted, Published},
        watching,
    },
    cluster::WatchNote,
};

impl Reflector {
    /// Starts all but the fallbacks, which are used when the watch of all namespaces is forbidden.
    pub(super) fn start_loops(&mut self, ctx: &Context<Self>) {
        let fallbacks = self.fallbacks();
        for scope in (0..self.scopes.len()).filter(|scope| !fallbacks.contains(scope)) {
            self.scopes[scope].watching = Some(self.start_loop(scope, ctx));
        }
    }

    pub(super) fn start_loop(&self, scope: usize, ctx: &Context<Self>) -> AbortHandle {
        let (cluster, store) = (self.parts.cluster.clone(), self.parts.store.clone());
        let Scope { spec, id, .. } = &self.scopes[scope];
        let (spec, id) = (spec.clone(), *id);
        let (reflector, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let alive = self.parts.alive.clone();
        let published = BacklogRecipient::new(&reflector, &mailbox);
        let note = move |note| {
            alive.hold();
            if let WatchNote::Changed(changes) = note {
                return published.post(Published { changes: changes.into(), origin: None });
            }
            post(&reflector, &mailbox, Noted { scope: id, note });
        };
        watching::start(&self.parts.runtime, (cluster, spec), (store, id), note)
    }
}
