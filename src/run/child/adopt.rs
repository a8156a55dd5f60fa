//! Adopts an existing object where the child type allows it: two dry runs, the hand-over of its managed
//! fields, then the apply, which adopts exactly the version that the hand-over left.
//!
//! | waits for | answer | next |
//! |---|---|---|
//! | a forced dry run | accepted | an unforced one, unless the type forces conflicts |
//! | an unforced dry run | others would keep fields | a dispute; nothing was changed |
//! | | accepted | the whole object |
//! | the whole object | nothing to hand over | the apply |
//! | | unchanged | a patch of its `managedFields` |
//! | the patch | accepted | the apply |
//! | any | 409 | it waits: the object has changed |

use serde_json::Value;

use super::{
    held::held_after_adoption,
    task::{Adopting, Adoption, Attempt, AwaitedChild, ChildNext, Dispute, Task, ask, done, hand},
};
use crate::{
    diff::adoption,
    history::Verb,
    object::{Object, ResourceVersion},
    operator::ConflictPolicy,
    plan::{ChildId, HeldField, Step, Write, without},
    reply::{ApiError, ErrorClass},
    run::{
        module_view::View,
        request::{Answer, Force, Reply, Request, Whole},
        turn::{StopReason, Turn, child_failed, put_off},
    },
};

/// Sends the apply of the adoption as a dry run.
pub(super) fn begin(attempt: Attempt, live: Object) -> Turn<ChildNext> {
    let adoption = Adoption { attempt, live };
    let write = adoption.adopting_write();
    let request = Request::dry_run(&write.id, &write.body, Force::Yes);
    ask(request, AwaitedChild::Adopt(Adopting::Tried(adoption)))
}

pub(super) fn answered(state: Adopting, answer: Answer, view: &View<'_>) -> Turn<ChildNext> {
    match state {
        Adopting::Tried(adoption) => match Reply::written(answer) {
            Ok(_) if adoption.policy() == ConflictPolicy::Force => adoption.read_whole(view),
            Ok(_) => adoption.try_yielding(),
            Err(error) => adoption.refused(error),
        },
        Adopting::TriedYielding(adoption) => match adoption.stays_held(answer, view) {
            Ok(held) if held.is_empty() => adoption.read_whole(view),
            Ok(held) => {
                let attempt = Attempt { verb: Verb::Adopted, ..adoption.attempt };
                hand(Task::Settle(Dispute::new(attempt, None, held)))
            }
            Err(error) => adoption.refused(error),
        },
        Adopting::Whole(adoption) => match Reply::whole(answer) {
            Ok(whole) => adoption.hand_over(whole.map(|Whole(live)| live), view),
            Err(error) => done().note(child_failed(&adoption.attempt.write.id, error)),
        },
        Adopting::HandedOver(adoption) => match Reply::written(answer) {
            Ok(reply) => adoption.apply(reply.resource_version(), view),
            Err(error) => adoption.refused(error),
        },
    }
}

impl Adoption {
    fn adopting_write(&self) -> Write {
        self.attempt.write.clone().adopting(self.live.uid(), self.live.resource_version())
    }

    fn policy(&self) -> ConflictPolicy {
        self.attempt.write.config.conflicts
    }

    fn try_yielding(self) -> Turn<ChildNext> {
        let write = self.adopting_write();
        let request = Request::dry_run(&write.id, &write.body, Force::No);
        ask(request, AwaitedChild::Adopt(Adopting::TriedYielding(self)))
    }

    /// The fields that others would hold after the hand-over, if nothing could be applied then.
    fn stays_held(&self, answer: Answer, view: &View<'_>) -> Result<Vec<HeldField>, ApiError> {
        let write = self.adopting_write();
        let held = match Reply::written(answer) {
            Ok(_) => Vec::new(),
            Err(error) => held_after_adoption(error, &write.id.ty, &view.settings.config().labels)?,
        };
        let applies_nothing =
            self.policy() == ConflictPolicy::Report || without(&write, &held).is_none();
        Ok(if applies_nothing { held } else { Vec::new() })
    }

    /// From here on the adoption is completed even if the operator is paused.
    fn read_whole(self, view: &View<'_>) -> Turn<ChildNext> {
        if let Some(stop) = StopReason::before(view, self.attempt.verb) {
            let mut turn = done();
            turn.facts = stop.hold(&Step::Create(self.attempt.write), view);
            return turn;
        }
        // An ordinary read has only the managers that operators need.
        let request = Request::ReadWhole(self.attempt.write.id.clone());
        ask(request, AwaitedChild::Adopt(Adopting::Whole(self)))
    }

    fn hand_over(self, whole: Option<Value>, view: &View<'_>) -> Turn<ChildNext> {
        let Some(whole) = whole.filter(|whole| is_same(whole, &self.live)) else {
            return outdated(&self.attempt.write.id);
        };
        if let Some(patch) = adoption(&whole, view.settings.name()) {
            let request = Request::Patch(self.attempt.write.id.clone(), patch);
            return ask(request, AwaitedChild::Adopt(Adopting::HandedOver(self)));
        }
        let version = self.live.resource_version().clone();
        self.apply(&version, view)
    }

    fn apply(self, version: &ResourceVersion, view: &View<'_>) -> Turn<ChildNext> {
        let write = self.attempt.write.clone().adopting(self.live.uid(), version);
        self.attempt.again(write, Verb::Adopted, view)
    }

    fn refused(self, error: ApiError) -> Turn<ChildNext> {
        let id = &self.attempt.write.id;
        if error.class() == ErrorClass::Conflict {
            return outdated(id);
        }
        done().note(child_failed(id, error))
    }
}

fn is_same(whole: &Value, live: &Object) -> bool {
    let metadata = &whole["metadata"];
    metadata["uid"] == live.uid().to_string()
        && metadata["resourceVersion"] == live.resource_version().to_string()
}

fn outdated(child: &ChildId) -> Turn<ChildNext> {
    done().note(put_off(child, "it changed during the adoption"))
}
