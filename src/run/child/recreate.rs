//! Whether it would be in vain to delete a child so that a new one comes: asked by dry runs, before
//! what cannot be undone.
//!
//! | the update | a new object | |
//! |---|---|---|
//! | changes nothing, or our labels only | | the difference is the work of the server, or is fixed |
//! | would be taken, or fields cannot change | is as the child is | the work of a policy on creation |
//! | would be taken, or fields cannot change | is refused for what is in it | it stays |
//! | would be taken, or fields cannot change | anything else | it is recreated |
//! | is refused for another reason | would be taken | it is recreated |
//! | is refused for another reason | is refused too | no object may be like that: it stays |
//! | whatever is said of it | we may create none, or a rule for Pods forbids it | it stays |

use super::{
    takeover,
    task::{Attempt, Next, Recreating, Recreation, State, Task, ask, done, hand},
    trial::{after_refusal, trial_of_new},
};
use crate::{
    diff::{are_alike, same_owned_fields},
    history::Verb,
    journal::Fact,
    object::Object,
    plan::{Deletion, Settled, Step, differ_in_claim_only},
    reply::{ApiError, ErrorClass},
    run::{
        request::{Answer, Force, Reply, Request},
        turn::{StopReason, Turn, child_failed},
        view::View,
    },
};

/// Begins to find out whether a new object would differ.
pub(super) fn begin(deletion: Deletion, tries: usize, view: &View<'_>) -> Turn<Next> {
    // What a predecessor left, and is not desired, would else not show.
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
    ask(request, State::Recreate(Recreating::Current(recreation)))
}

/// Continues with an answer.
pub(super) fn answered(state: Recreating, answer: Answer, view: &View<'_>) -> Turn<Next> {
    match state {
        Recreating::Current(recreation) => match Reply::object(answer) {
            Ok(Some(current)) => recreation.try_update(current),
            Ok(None) => recreation.go_on(),
            Err(error) => recreation.failed(error),
        },
        Recreating::Update(recreation, current) => match Reply::written(answer) {
            Ok(reply) => recreation.updated(current, &reply, view),
            Err(error) => match error.class() {
                ErrorClass::Permanent => recreation.try_new(current, Some(error)),
                ErrorClass::Conflict => recreation.go_on(),
                _ => recreation.failed(error),
            },
        },
        Recreating::New(recreation, current, refused) => match Reply::written(answer) {
            Ok(reply) if are_alike(&current, &reply, view.settings.name()) => {
                recreation.settle(&current, view)
            }
            Ok(_) => recreation.go_on(),
            Err(error) => match after_refusal(error, refused) {
                Ok(()) => recreation.go_on(),
                Err(error) => recreation.failed(error),
            },
        },
    }
}

impl Recreation {
    fn try_update(self, current: Object) -> Turn<Next> {
        let request = Request::trial(&self.instead_of.id, &self.instead_of.body, Force::Yes);
        ask(request, State::Recreate(Recreating::Update(self, current)))
    }

    fn updated(self, current: Object, reply: &Object, view: &View<'_>) -> Turn<Next> {
        if same_owned_fields(&current, reply, view.settings.name()) {
            return self.settle(&current, view);
        }
        if differ_in_claim_only(&current, reply, &view.settings.config().labels) {
            return self.tie(view);
        }
        self.try_new(current, None)
    }

    /// Whether a new object would be as the child is, although the update would not be: what sets its
    /// fields does so only when an object is created.
    fn try_new(self, current: Object, refused: Option<ApiError>) -> Turn<Next> {
        let request = trial_of_new(&self.instead_of);
        ask(request, State::Recreate(Recreating::New(self, current, refused)))
    }

    fn go_on(self) -> Turn<Next> {
        hand(Task::Send(self.deletion, self.tries))
    }

    /// There is nothing to do about a child, now and until it changes: which is seen where it is watched.
    fn settle(self, current: &Object, view: &View<'_>) -> Turn<Next> {
        let settled = Settled::new(&self.instead_of, current, view.settings.name());
        let turn = done().note(Fact::Explained(settled));
        if view.settings.is_watched(current) {
            return turn;
        }
        turn.note(child_failed(&self.instead_of.id, view.settings.unlabelled()))
    }

    /// It is as desired and only not tied to us.
    fn tie(self, view: &View<'_>) -> Turn<Next> {
        let write = self.instead_of;
        if let Some(stop) = StopReason::before(view, Verb::Updated) {
            let mut turn = done();
            turn.facts = stop.hold(&Step::Update(write), view);
            return turn;
        }
        hand(Task::Apply(Attempt::new(write, Verb::Updated)))
    }

    fn failed(self, error: ApiError) -> Turn<Next> {
        done().note(child_failed(&self.deletion.id, error))
    }
}
