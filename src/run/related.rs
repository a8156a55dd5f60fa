//! Which related objects the handler reads, and whether they are known. An operator that declares none takes no
//! step here.

use super::{Effect, Previewed, reconcile::Reconcile, stage::Stage};
use crate::{
    journal::{Fact, Failure},
    operator::{Asks, Related},
    related::FoundRelated,
};

impl Reconcile {
    pub(super) fn lacks_related(&self) -> bool {
        self.related.is_none() && !self.settings.config().related.is_empty()
    }

    pub(super) fn related_named(&mut self, related: &Related) -> Stage {
        let uid = self.parent().uid().clone();
        match related.asks(self.settings.config(), self.parent()) {
            Ok(asks) => {
                // A look at a plan starts no watch, unless plans are all that there is.
                if self.preview.is_none() || self.settings.config().plan_only {
                    self.effects.push(Effect::Ask(uid, asks.clone()));
                }
                self.effects.push(Effect::ReadRelated(asks));
                Stage::ReadingRelated
            }
            Err(error) => {
                // What it asked for before is not read any more.
                self.effects.push(Effect::Ask(uid, Asks::new()));
                self.related_failed(Failure::InvalidRelated(error))
            }
        }
    }

    /// A reconcile that waits for a list ends, and is woken by it. Nothing is written meanwhile: after a start that
    /// would be a write for each parent.
    pub(super) fn related_read(&mut self, related: FoundRelated) -> Stage {
        match related {
            FoundRelated::Objects(objects) => {
                self.related = Some(objects);
                self.handle()
            }
            FoundRelated::Pending(what) if self.preview.is_some() => {
                let pending = Some(format!("{what}: not listed yet, try again"));
                self.preview = Some(Box::new(Previewed { pending, ..Previewed::default() }));
                self.finish()
            }
            FoundRelated::Pending(what) => {
                let why = format!("related objects are being listed: {what}");
                self.note([Fact::ParentWaits(why)]);
                self.finish()
            }
            FoundRelated::Unavailable(why) => self.related_failed(Failure::RelatedUnavailable(why)),
        }
    }

    fn related_failed(&mut self, failure: Failure) -> Stage {
        if self.preview.is_some() {
            return self.preview_failed(failure);
        }
        if self.is_finalizing() {
            return self.finalize_failed(failure.into());
        }
        self.note([Fact::Failed(failure)]);
        self.conclude(None)
    }
}
