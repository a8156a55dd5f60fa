//! Starts the watch loops of a reflector, one for each scope.

use actix::{AsyncContext, Context};
use tokio::task::AbortHandle;

use super::{Reflector, post};
use crate::actors::{messages::Noted, watching};

impl Reflector {
    pub(super) fn start_loop(&self, scope: usize, ctx: &Context<Self>) -> AbortHandle {
        let (cluster, store) = (self.parts.cluster.clone(), self.parts.store.clone());
        let (spec, id) = (self.parts.scopes[scope].clone(), self.scopes[scope].id);
        let (reflector, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let note = move |note| post(&reflector, &mailbox, Noted { scope, note });
        watching::start(&self.parts.runtime, (cluster, spec), (store, id), note)
    }
}
