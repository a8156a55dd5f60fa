//! Checks by dry runs, before a deletion that cannot be undone, whether a new object would differ from the
//! child.
//!
//! | the update | a new object | |
//! |---|---|---|
//! | changes nothing, or our labels only | | kept: the server causes the difference; or the labels are written |
//! | would be accepted, or fields are immutable | equals the child | kept: a policy on creation causes the difference |
//! | would be accepted, or fields are immutable | would be accepted, or is refused for its name alone | recreated |
//! | is refused for another reason | would be accepted | recreated |
//! | any | needs the quota or the port of the child | recreated |
//! | any | is refused otherwise, by validation, permissions or admission | kept |

use super::{
    dry_run::{after_refusal, dry_run_of_new},
    takeover,
    task::{Attempt, AwaitedChild, ChildNext, Recreating, Recreation, Task, ask, done, hand},
};
use crate::{
    diff::{are_alike, same_owned_fields},
    history::Verb,
    journal::Fact,
    object::Object,
    plan::{Deletion, Settled, Step, differ_in_claim_only},
    reply::{ApiError, ErrorClass},
    run::{
        module_view::View,
        request::{Answer, Force, Reply, Request},
        turn::{StopReason, Turn, child_failed},
    },
};

pub(super) fn begin(deletion: Deletion, tries: usize, view: &View<'_>) -> Turn<ChildNext> {
    // Without the takeover, fields that a predecessor left would not show in the dry run.
    if takeover::is_due(&deletion.id, view).is_some() {
        let id = deletion.id.clone();
        return hand(takeover::first(&id, Task::Recreate(deletion, tries), view));
    }
    let Some(instead_of) = deletion.instead_of().cloned() else {
        return hand(Task::Send(deletion, tries));
    };
    let recreation = Recreation { deletion, tries, instead_of };
    if let Some(current) = view.snapshot.cached(&recreation.instead_of.id) {
        return recreation.try_update(current);
    }
    let request = Request::Read(recreation.instead_of.id.clone());
    ask(request, AwaitedChild::Recreate(Recreating::Current(recreation)))
}

pub(super) fn answered(state: Recreating, answer: Answer, view: &View<'_>) -> Turn<ChildNext> {
    match state {
        Recreating::Current(recreation) => match Reply::object(answer) {
            Ok(Some(current)) => recreation.try_update(current),
            Ok(None) => recreation.delete(),
            Err(error) => recreation.failed(error),
        },
        Recreating::Update(recreation, current) => match Reply::written(answer) {
            Ok(reply) => recreation.updated(current, &reply, view),
            Err(error) => match error.class() {
                ErrorClass::Permanent => recreation.try_new(current, Some(error)),
                ErrorClass::Conflict => recreation.try_new(current, None),
                _ => recreation.failed(error),
            },
        },
        Recreating::New(recreation, current, refused) => match Reply::written(answer) {
            Ok(reply) if are_alike(&current, &reply, view.settings.name()) => {
                recreation.settle(&current, view)
            }
            Ok(_) => recreation.delete(),
            Err(error) => match after_refusal(error, refused) {
                Ok(()) => recreation.delete(),
                Err(error) => recreation.failed(error),
            },
        },
    }
}

impl Recreation {
    fn try_update(self, current: Object) -> Turn<ChildNext> {
        let request = Request::dry_run(&self.instead_of.id, &self.instead_of.body, Force::Yes);
        ask(request, AwaitedChild::Recreate(Recreating::Update(self, current)))
    }

    fn updated(self, current: Object, reply: &Object, view: &View<'_>) -> Turn<ChildNext> {
        if same_owned_fields(&current, reply, view.settings.name()) {
            return self.settle(&current, view);
        }
        if differ_in_claim_only(&current, reply, &view.settings.config().labels) {
            return self.claim(view);
        }
        self.try_new(current, None)
    }

    /// Compares a new object with the child: defaults may be set only at creation.
    fn try_new(self, current: Object, refused: Option<ApiError>) -> Turn<ChildNext> {
        let request = dry_run_of_new(&self.instead_of);
        ask(request, AwaitedChild::Recreate(Recreating::New(self, current, refused)))
    }

    fn delete(self) -> Turn<ChildNext> {
        hand(Task::Send(self.deletion, self.tries))
    }

    /// Keeps the child until it changes; a watch must cover it to see that.
    fn settle(self, current: &Object, view: &View<'_>) -> Turn<ChildNext> {
        let settled = Settled::new(&self.instead_of, current, view.settings.name());
        let turn = done().note(Fact::DryRunUnchanged(settled));
        if view.settings.is_watched(current) {
            return turn;
        }
        turn.note(child_failed(&self.instead_of.id, view.settings.unlabelled()))
    }

    /// Only the ownership fields differ.
    fn claim(self, view: &View<'_>) -> Turn<ChildNext> {
        let write = self.instead_of;
        if let Some(stop) = StopReason::before(view, Verb::Updated) {
            let mut turn = done();
            turn.facts = stop.hold(&Step::Update(write), view);
            return turn;
        }
        hand(Task::Apply(Attempt::new(write, Verb::Updated)))
    }

    fn failed(self, error: ApiError) -> Turn<ChildNext> {
        done().note(child_failed(&self.deletion.id, error))
    }
}
