//! The messages of a reconciler, and what each means to its schedule.

use super::{Reconciler, Replaced};
use crate::{
    actors::{
        mailbox::Receive,
        messages::{
            Admitted, ChildChanged, PreviewAsked, RelatedChanged, Resumed, Retire, Touched,
        },
        reason::{child_cause, object_change},
    },
    board::{CommandError, ParentState},
    execute::{now, preview},
    history::Cause,
    object::Object,
    operator::is_paused,
    run::Job,
    schedule::{Input, Phase, Trigger},
};

impl Receive<Touched> for Reconciler {
    fn receive(&mut self, Touched { trigger, cause }: Touched, ctx: &mut Self::Context) {
        self.touched(trigger, cause, ctx);
    }
}

impl Receive<ChildChanged> for Reconciler {
    fn receive(&mut self, ChildChanged { ty, changes, at }: ChildChanged, ctx: &mut Self::Context) {
        let (change, is_running) = (&changes[at], self.is_running());
        let trigger = self.awaited.trigger(&ty, change, is_running);
        self.touched(trigger, child_cause(&ty, change), ctx);
    }
}

impl Receive<RelatedChanged> for Reconciler {
    fn receive(&mut self, changed: RelatedChanged, ctx: &mut Self::Context) {
        let RelatedChanged { ty, changes, at, after } = changed;
        let cause = Cause::RelatedChanged(Box::new(object_change(&ty, &changes[at])));
        if after.is_zero() {
            return self.touched(Trigger::Related, cause, ctx);
        }
        self.causes.add(cause);
        self.last_touch = Some(now().monotonic);
        self.step(Input::Spread { after }, ctx);
    }
}

impl Receive<Resumed> for Reconciler {
    /// A reconcile in progress may have begun before.
    fn receive(&mut self, Resumed: Resumed, ctx: &mut Self::Context) {
        let phase = self.schedule.phase();
        let is_running = self.is_running();
        if !self.deferred.resume(is_running) {
            return;
        }
        // A failed parent keeps its backoff; a resting one would wait for ever.
        let trigger = if phase == Phase::Resting { Trigger::Asked } else { Trigger::ChildOrStatus };
        self.causes.add(Cause::Resumed);
        self.last_touch = Some(now().monotonic);
        self.step(Input::Touched(trigger), ctx);
        if is_running {
            // It may be paused itself.
            let is_paused = |parent: &Object| is_paused(parent, now().wall);
            if !self.parts.parents.get(&self.key).as_ref().is_some_and(is_paused) {
                self.update(ParentState::resume);
            }
        } else {
            self.show(Vec::new());
        }
    }
}

impl Receive<PreviewAsked> for Reconciler {
    /// Refused during a reconcile, which holds the memory.
    fn receive(&mut self, PreviewAsked { answer }: PreviewAsked, _: &mut Self::Context) {
        if self.is_running() {
            let why = "a reconcile is in progress: try again when it has ended".to_owned();
            return answer.give(Err(CommandError::Undecided(why)));
        }
        let context = self.parts.context.clone();
        let (key, uid, memory) = (self.key.clone(), self.uid.clone(), self.memory.for_preview());
        let job = Job { key, uid, after_writes: 0, memory };
        self.parts.runtime.spawn(async move { answer.give(preview(&context, job, None).await) });
    }
}

impl Receive<Admitted> for Reconciler {
    fn receive(&mut self, Admitted { permit }: Admitted, ctx: &mut Self::Context) {
        self.admitted(permit, ctx);
    }
}

impl Receive<Replaced> for Reconciler {
    /// A reconcile in progress continues with the earlier ones.
    fn receive(&mut self, Replaced { parts }: Replaced, _: &mut Self::Context) {
        self.parts = parts;
    }
}

impl Receive<Retire> for Reconciler {
    fn receive(&mut self, Retire: Retire, ctx: &mut Self::Context) {
        self.step(Input::Retired, ctx);
    }
}
