//! Takes over fields of other managers, so that the next apply removes the undesired fields: all fields of a
//! predecessor, directly before the first update; and colliding list items, after an update was refused for
//! them.
//!
//! | waits for | answer | next |
//! |---|---|---|
//! | the whole object | it is another one, or has no such fields | the task |
//! | | an item collides, and the conflict policy is not `Force` | failure, with the manager of the item |
//! | | it exists | a patch of its `managedFields` |
//! | the patch | accepted | the task |
//! | | 409, at most twice | the whole object again |
//! | either | anything else | failure: an apply now would hide the missing takeover |

use serde_json::Value;

use super::task::{
    Attempt, AwaitedChild, ChildNext, Refused, TRIES, TakenOver, Takeover, TakingOver, Task, ask,
    done, hand,
};
use crate::{
    diff::{collision, has_predecessor, takeover},
    object::Uid,
    plan::{ChildId, Write},
    reply::{ApiError, ErrorClass},
    run::{
        effect::Cache,
        module_view::View,
        request::{Answer, Reply, Request, Whole},
        turn::{Turn, child_failed, failed_with_hint},
    },
};

/// The uid of the cached child, if a predecessor owns fields of it.
pub(in crate::run) fn is_due(id: &ChildId, view: &View<'_>) -> Option<Uid> {
    let predecessor = &view.settings.config().predecessor;
    let cached = view.snapshot.cached(id).filter(|child| has_predecessor(child, predecessor));
    cached.map(|child| child.uid().clone())
}

/// Puts a takeover before the task if one is needed. Usually none is, and no request is sent.
pub(super) fn first(id: &ChildId, then: Task, view: &View<'_>) -> Task {
    match is_due(id, view) {
        Some(uid) => {
            let (id, of, then) = (id.clone(), TakenOver::OfPredecessor, Box::new(then));
            Task::TakeOver(Takeover { id, uid, of, attempt: 1, then })
        }
        None => then,
    }
}

/// The takeover after an update that was refused for colliding list items.
pub(super) fn of_colliding(attempt: &Attempt, error: &ApiError, view: &View<'_>) -> Option<Task> {
    let is_open = attempt.tries < TRIES && !duplicates(error).is_empty();
    let cached = view.snapshot.cached(attempt.id()).filter(|_| is_open)?;
    let (write, verb, tries) = (attempt.write.clone(), attempt.verb, attempt.tries);
    let refused = Refused { write: write.clone(), error: error.clone() };
    let then = Box::new(Task::Apply(Attempt { write, verb, tries, error: Some(error.clone()) }));
    let (id, uid, of) =
        (attempt.id().clone(), cached.uid().clone(), TakenOver::Colliding(Box::new(refused)));
    Some(Task::TakeOver(Takeover { id, uid, of, attempt: 1, then }))
}

/// The paths with a duplicate value, from the causes of the refusal.
fn duplicates(error: &ApiError) -> Vec<String> {
    let causes = error.refusal().map(|refusal| refusal.causes.as_slice()).unwrap_or_default();
    let duplicates = causes.iter().filter(|cause| cause.reason == "FieldValueDuplicate");
    duplicates.map(|cause| cause.field.clone()).collect()
}

pub(super) fn begin(takeover: Takeover) -> Turn<ChildNext> {
    ask(
        Request::ReadWhole(takeover.id.clone()),
        AwaitedChild::TakeOver(TakingOver::Whole(takeover)),
    )
}

pub(super) fn answered(state: TakingOver, answer: Answer, view: &View<'_>) -> Turn<ChildNext> {
    match state {
        TakingOver::Whole(it) => {
            let live = match Reply::whole(answer) {
                Ok(live) => {
                    live.filter(|Whole(live)| live["metadata"]["uid"] == it.uid.to_string())
                }
                Err(error) => return done().note(child_failed(&it.id, error)),
            };
            match live {
                Some(Whole(live)) => take(it, &live, view),
                // The apply handles any other state of the live object.
                None => hand(*it.then),
            }
        }
        TakingOver::Patched(it) => match Reply::written(answer) {
            Ok(reply) => hand(*it.then).cache([Cache::Wrote(reply)]),
            Err(error) if error.class() == ErrorClass::Conflict && it.attempt < TRIES => {
                begin(Takeover { attempt: it.attempt + 1, ..it })
            }
            Err(error) => done().note(child_failed(&it.id, error)),
        },
    }
}

fn take(it: Takeover, live: &Value, view: &View<'_>) -> Turn<ChildNext> {
    let (name, predecessor) = (view.settings.name(), &view.settings.config().predecessor);
    let patch = match &it.of {
        TakenOver::OfPredecessor => takeover(live, name, predecessor),
        TakenOver::Colliding(refused) => {
            let Refused { write, error } = &**refused;
            match collision(live, &write.body, &duplicates(error), name) {
                Some(found) if write.forces() => Some(found.patch),
                Some(found) => return held(write, error, &found.holders),
                None => None,
            }
        }
    };
    match (patch, it.of) {
        (Some(patch), of) => {
            let request = Request::Patch(it.id.clone(), patch);
            ask(request, AwaitedChild::TakeOver(TakingOver::Patched(Takeover { of, ..it })))
        }
        (None, TakenOver::OfPredecessor) => hand(*it.then),
        (None, TakenOver::Colliding(refused)) => hand(Task::Refused(*refused)),
    }
}

/// The failure for a colliding item that stays with its manager.
fn held(write: &Write, error: &ApiError, holders: &str) -> Turn<ChildNext> {
    let hint = format!("; {holders}: remove that item, or choose `ConflictPolicy::Force`");
    done().note(failed_with_hint(&write.id, error.clone(), hint))
}
