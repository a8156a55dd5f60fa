//! Which related objects the handler reads, and whether they are known. An operator that declares none takes no
//! step here.

use super::{
    Effect, HandlerError, Machine, Moment, Previewed, Purpose,
    stage::{self, Stage},
};
use crate::{
    journal::{Fact, Failure},
    object::Object,
    operator::{Asks, Children, Related, SyncRequest},
    related::Answer,
};

impl Machine {
    pub(super) fn lacks_related(&self) -> bool {
        self.related.is_none() && !self.settings.config().related.is_empty()
    }

    pub(super) fn call_related(&mut self, parent: Object) {
        self.stage = Stage::Called(stage::Call::default());
        let request = SyncRequest::new(parent, Children::default());
        self.effects.push(Effect::Call(Purpose::Related, request));
    }

    pub(super) fn related_named(&mut self, related: &Related, at: &Moment<'_>) {
        let Some(parent) = self.parent.clone() else { return };
        match related.asks(self.settings.config(), &parent) {
            // A look at a plan starts no watch, unless plans are all that there is.
            Ok(asks) if self.preview.is_some() && !self.settings.config().plan_only => {
                self.related_asked(&asks, at);
            }
            Ok(asks) => {
                self.effects.push(Effect::Ask(parent.uid().clone(), asks.clone()));
                self.effects.push(Effect::Resume);
                self.stage = Stage::Asking(asks);
            }
            Err(error) => {
                // What it asked for before is not read any more.
                self.effects.push(Effect::Ask(parent.uid().clone(), Asks::new()));
                self.related_failed(Failure::InvalidRelated(error), at);
            }
        }
    }

    /// A reconcile that waits for a list ends, and is woken by it. Nothing is written meanwhile: after a start that
    /// would be a write for each parent.
    pub(super) fn related_asked(&mut self, asks: &Asks, at: &Moment<'_>) {
        match at.snapshot.related(asks) {
            Answer::Objects(objects) => {
                self.related = Some(objects);
                let purpose = if self.is_finalizing() { Purpose::Finalize } else { Purpose::Sync };
                self.call(purpose, at);
            }
            Answer::Pending(what) if self.preview.is_some() => {
                let pending = Some(format!("{what}: not listed yet, try again"));
                self.preview = Some(Box::new(Previewed { pending, ..Previewed::default() }));
                self.finish(at);
            }
            Answer::Pending(what) => {
                self.note(
                    [Fact::ParentWaits(format!("related objects are being listed: {what}"))],
                    at,
                );
                self.finish(at);
            }
            Answer::Unavailable(why) => self.related_failed(Failure::RelatedUnavailable(why), at),
        }
    }

    fn related_failed(&mut self, failure: Failure, at: &Moment<'_>) {
        if self.preview.is_some() {
            return self.preview_failed(failure, at);
        }
        if self.is_finalizing() {
            return self.finalize_failed(HandlerError { failure, status: None }, at);
        }
        self.note([Fact::Failed(failure)], at);
        self.conclude(None, at);
    }
}
