//! Taking over what others own of a child, so that the apply that follows removes what is not desired: all of
//! a predecessor, directly before the first update; items of lists that collide with desired ones, when an
//! update was refused for that.
//!
//! | waits for | answer | what follows |
//! |---|---|---|
//! | all of the object | it is another one, or nothing is to be taken | the task |
//! | | an item collides, and the conflict policy is not to take it | it failed: who holds the item |
//! | | it is there | a patch of its `managedFields` |
//! | the patch | accepted | the task |
//! | | 409, at most twice | all of the object again |
//! | either | anything else | it failed: applied now, it would look as if it were done |

use serde_json::Value;

use super::task::{
    Attempt, Next, Refused, State, TRIES, TakenOver, Takeover, TakingOver, Task, ask, done, hand,
};
use crate::{
    diff::{collision, has_predecessor, takeover},
    object::Uid,
    plan::{ChildId, Write},
    reply::{ApiError, ErrorClass},
    run::{
        effect::Cache,
        request::{Answer, Reply, Request},
        turn::{Turn, child_failed, failed_with_hint},
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
            let (id, of, then) = (id.clone(), TakenOver::OfPredecessor, Box::new(then));
            Task::TakeOver(Takeover { id, uid, of, attempt: 1, then })
        }
        None => then,
    }
}

/// The task after an update that was refused because items of lists collide, if it was refused for that.
pub(super) fn of_colliding(attempt: &Attempt, error: &ApiError, view: &View<'_>) -> Option<Task> {
    let is_open = attempt.tries < TRIES && !duplicates(error).is_empty();
    let cached = view.snapshot.cached(attempt.id()).filter(|_| is_open)?;
    let (write, verb, tries) = (attempt.write.clone(), attempt.verb, attempt.tries);
    let refused = Refused { write: write.clone(), error: error.clone() };
    let then = Box::new(Task::Apply(Attempt { write, verb, tries, error: Some(error.clone()) }));
    let (id, uid, of) = (attempt.id().clone(), cached.uid().clone(), TakenOver::Colliding(refused));
    Some(Task::TakeOver(Takeover { id, uid, of, attempt: 1, then }))
}

/// The paths of which the server said that a value is there twice.
fn duplicates(error: &ApiError) -> Vec<String> {
    let causes = error.refusal().map(|refusal| refusal.causes.as_slice()).unwrap_or_default();
    let duplicates = causes.iter().filter(|cause| cause.reason == "FieldValueDuplicate");
    duplicates.map(|cause| cause.field.clone()).collect()
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
            match live {
                Some(live) => take(it, &live, view),
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

fn take(it: Takeover, live: &Value, view: &View<'_>) -> Turn<Next> {
    let (name, predecessor) = (view.settings.name(), &view.settings.config().predecessor);
    let patch = match &it.of {
        TakenOver::OfPredecessor => takeover(live, name, predecessor),
        TakenOver::Colliding(Refused { write, error }) => {
            match collision(live, &write.body, &duplicates(error), name) {
                Some(found) if view.settings.forces(&it.id) => Some(found.patch),
                Some(found) => return held(write, error, &found.holders),
                None => None,
            }
        }
    };
    match (patch, it.of) {
        (Some(patch), of) => {
            let request = Request::Patch(it.id.clone(), patch);
            ask(request, State::TakeOver(TakingOver::Patched(Takeover { of, ..it })))
        }
        (None, TakenOver::OfPredecessor) => Turn::new(Next::Hand(it.then)),
        (None, TakenOver::Colliding(refused)) => hand(Task::Refused(refused)),
    }
}

/// A colliding item stays with who holds it.
fn held(write: &Write, error: &ApiError, holders: &str) -> Turn<Next> {
    let hint = format!("; {holders}: remove that item, or choose `ConflictPolicy::Force`");
    done().note(failed_with_hint(&write.id, error.clone(), hint))
}
