//! Taking over a child of a predecessor, directly before its first update: what the predecessor owns of it
//! becomes ours, so that the apply that follows removes what is not desired.
//!
//! | waits for | answer | what follows |
//! |---|---|---|
//! | all of the object | it is another one, or nothing is to be taken | the task |
//! | | it is there | a patch of its `managedFields` |
//! | the patch | accepted | the task |
//! | | 409, at most twice | all of the object again |
//! | either | anything else | it failed: applied now, it would look as if it were done |

use super::task::{Next, State, TRIES, Takeover, TakingOver, Task, ask, done};
use crate::{
    object::Uid,
    plan::{ChildId, has_predecessor, takeover},
    reply::ErrorClass,
    run::{
        effect::Cache,
        request::{Answer, Reply, Request},
        turn::{Turn, child_failed},
        view::View,
    },
};

/// The cached child of a predecessor, if it is that.
pub(in crate::run) fn is_due(id: &ChildId, view: &View<'_>) -> Option<Uid> {
    let predecessor = &view.settings.config().predecessor;
    let cached = view.snapshot.cached(id).filter(|child| has_predecessor(child, predecessor));
    cached.map(|child| child.uid().clone())
}

/// The task, after a takeover where one is due. Usually none is, and no request is sent.
pub(super) fn first(id: &ChildId, then: Task, view: &View<'_>) -> Task {
    match is_due(id, view) {
        Some(uid) => {
            let (id, then) = (id.clone(), Box::new(then));
            Task::TakeOver(Takeover { id, uid, attempt: 1, then })
        }
        None => then,
    }
}

/// Reads all of the object.
pub(super) fn begin(takeover: Takeover) -> Turn<Next> {
    ask(Request::ReadWhole(takeover.id.clone()), State::TakeOver(TakingOver::Whole(takeover)))
}

/// Continues with an answer.
pub(super) fn answered(state: TakingOver, answer: Answer, view: &View<'_>) -> Turn<Next> {
    match state {
        TakingOver::Whole(it) => {
            let live = match Reply::whole(answer) {
                Ok(live) => live.filter(|live| live["metadata"]["uid"] == it.uid.to_string()),
                Err(error) => return done().note(child_failed(&it.id, error)),
            };
            let (name, predecessor) = (view.settings.name(), &view.settings.config().predecessor);
            match live.and_then(|live| takeover(&live, name, predecessor)) {
                Some(patch) => {
                    let request = Request::Patch(it.id.clone(), patch);
                    ask(request, State::TakeOver(TakingOver::Patched(it)))
                }
                // What else there is to say about the live object, the apply is told.
                None => Turn::new(Next::Hand(it.then)),
            }
        }
        TakingOver::Patched(it) => match Reply::written(answer) {
            Ok(reply) => Turn::new(Next::Hand(it.then)).cache([Cache::Wrote(reply)]),
            Err(error) if error.class() == ErrorClass::Conflict && it.attempt < TRIES => {
                begin(Takeover { attempt: it.attempt + 1, ..it })
            }
            Err(error) => done().note(child_failed(&it.id, error)),
        },
    }
}
