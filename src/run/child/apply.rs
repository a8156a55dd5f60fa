//! Creating or updating one child by server-side apply, and what follows from the answer.
//!
//! | answer | next |
//! |---|---|
//! | the unchanged object | it is up to date |
//! | the object | it was written |
//! | 409, fields held by others | a dispute |
//! | 409, or gone, or another uid | a live read, which decides |
//! | 422 for colliding list items | a takeover of the undesired items |
//! | 422 for an immutable field, and the type allows it | its deletion, to recreate it |
//! | anything else | it failed |

use super::{
    accepted::{written, wrote_nothing},
    held::held,
    immutable, takeover,
    task::{
        After, Applying, Attempt, AwaitedChild, ChildNext, Dispute, Refused, Task, ask, done, hand,
    },
};
use crate::{
    history::Verb,
    journal::{Fact, Wait},
    object::Object,
    plan::{AfterConflict, ChildId, ForeignChild, Step, Write, after_conflict},
    reply::{ApiError, ErrorClass},
    run::{
        drift::rival::Search,
        guard::as_planned,
        module_view::View,
        request::{Answer, Force, Reply, Request},
        turn::{Next, Turn, child_failed, failed_with_hint, not_modified, waits},
    },
};

pub(super) fn begin(step: Step, view: &View<'_>) -> Turn<ChildNext> {
    let id = step.id().clone();
    let then = match step {
        Step::Create(write) => match view.memory.foreign().get(&id) {
            Some(known) => {
                let state = Applying::Foreign(write, known.clone());
                return ask(Request::Read(id), AwaitedChild::Apply(state));
            }
            None => Task::Apply(Attempt::new(write, Verb::Created)),
        },
        Step::Update(write) if write.claim.is_some() => {
            Task::Apply(Attempt::new(write, Verb::Updated))
        }
        Step::Update(write) => {
            takeover::first(&id, Task::Apply(Attempt::new(write, Verb::Updated)), view)
        }
        Step::Delete(deletion) => Task::Defer(deletion),
    };
    hand(match Search::before_repair(&id, view) {
        Some(search) => Task::FindRival(search, Box::new(then)),
        None => then,
    })
}

pub(super) fn send(attempt: Attempt, view: &View<'_>) -> Turn<ChildNext> {
    let id = attempt.id().clone();
    let force = if attempt.write.forces() { Force::Yes } else { Force::No };
    let before = view.snapshot.cached(&id);
    let request = Request::apply(&id, attempt.write.sent(), force);
    let attempt = Attempt { tries: attempt.tries + 1, ..attempt };
    ask(request, AwaitedChild::Apply(Applying::Sent(attempt, before)))
}

/// Reads a child after a conflict.
pub(super) fn look(attempt: Attempt) -> Turn<ChildNext> {
    ask(Request::Read(attempt.id().clone()), AwaitedChild::Apply(Applying::Looking(attempt)))
}

pub(super) fn answered(state: Applying, answer: Answer, view: &View<'_>) -> Turn<ChildNext> {
    match state {
        Applying::Foreign(write, known) => foreign_read(write, known, Reply::object(answer)),
        Applying::Sent(attempt, before) => concluded(attempt, before, Reply::written(answer), view),
        Applying::Looking(attempt) => match Reply::object(answer) {
            Ok(live) => resolved(attempt, live, view),
            Err(error) => done().note(child_failed(attempt.id(), error)),
        },
        Applying::Parent(attempt) => match Reply::object(answer) {
            Ok(live) => {
                let judged = as_planned::judge(view, live);
                let is_as_planned = judged.next;
                judged.before(if is_as_planned {
                    let write = attempt.write.clone();
                    attempt.again(write, Verb::Created, view)
                } else {
                    done()
                })
            }
            Err(error) => done().note(child_failed(attempt.id(), error)),
        },
        Applying::Immutable(refused) => match Reply::object(answer) {
            Ok(live) => match live.and_then(|live| immutable::deletion(&refused, &live, view)) {
                Some(deletion) => hand(Task::Defer(deletion)),
                None => failed(refused),
            },
            Err(error) => done().note(child_failed(&refused.write.id, error)),
        },
    }
}

fn foreign_read(
    write: Write,
    known: ForeignChild,
    live: Result<Option<Object>, ApiError>,
) -> Turn<ChildNext> {
    let is_unchanged =
        |live: &Object| known.uid == *live.uid() && known.version == *live.resource_version();
    match live {
        Ok(Some(live)) if is_unchanged(&live) => done().note(Fact::Foreign(known)),
        Ok(_) => hand(Task::Apply(Attempt::new(write, Verb::Created))),
        Err(error) => done().note(child_failed(&write.id, error)),
    }
}

fn concluded(
    mut attempt: Attempt,
    before: Option<Object>,
    reply: Result<Object, ApiError>,
    view: &View<'_>,
) -> Turn<ChildNext> {
    let error = match reply {
        Ok(reply) if before.as_ref() == Some(&reply) => {
            return wrote_nothing(&attempt.write, &reply, view);
        }
        Ok(reply) => return written(&attempt.write, attempt.verb, reply, view),
        Err(error) => error,
    };
    let id = attempt.id().clone();
    // The existing object may not be a child at all.
    let held = if attempt.write.is_creating() { Vec::new() } else { held(&error) };
    if held.is_empty() && error.class() != ErrorClass::Conflict {
        let task = takeover::of_colliding(&attempt, &error, view)
            .unwrap_or_else(|| Task::Refused(Refused { write: attempt.write, error }));
        return hand(task).note(Fact::NotForeign(id));
    }
    if let Some(stopped) = attempt.stopped(view) {
        return stopped;
    }
    attempt.error = Some(error);
    if held.is_empty() {
        return hand(Task::Resolve(attempt));
    }
    let dispute = Dispute::new(attempt, before, held);
    hand(Task::Settle(dispute)).note(Fact::NotForeign(id))
}

fn resolved(attempt: Attempt, live: Option<Object>, view: &View<'_>) -> Turn<ChildNext> {
    // Only what this read found counts as foreign.
    let id = attempt.id().clone();
    let turn = done().note(Fact::NotForeign(id.clone()));
    let (config, name) = (view.settings.config(), view.settings.name());
    let write = attempt.write.clone();
    let after = after_conflict(config, name, view.parent, write, live.as_ref());
    let after = match live.as_ref().and_then(|live| Some((live, view.other_parent(live)?))) {
        Some((live, other)) => after.unless_of(&other, live),
        None => after,
    };
    let turn = match after {
        AfterConflict::CreateAgain(write) => {
            let state = Applying::Parent(Attempt { write, ..attempt });
            let parent = Request::Read(ChildId::of(view.parent));
            return turn.before(ask(parent, AwaitedChild::Apply(state)));
        }
        AfterConflict::ApplyWithUid(write) => {
            let again = |write| attempt.again(write, Verb::Updated, view);
            return turn.before(found(write, live.as_ref(), view, again));
        }
        AfterConflict::Recreate(deletion) => {
            let (drift, search) = match deletion.instead_of().zip(live.as_ref()) {
                Some((write, live)) => Search::after_find(write, live, view),
                None => (None, None),
            };
            let task = Task::Defer(deletion);
            let mut next = hand(match search {
                Some(search) => Task::FindRival(search, Box::new(task)),
                None => task,
            });
            next.facts.extend(drift);
            return turn.before(next);
        }
        AfterConflict::Claim(write) => {
            return turn.before(attempt.again(write, Verb::Adopted, view));
        }
        AfterConflict::Adopt(_) => {
            return match live {
                Some(live) => turn.before(hand(Task::Adopt(attempt, live))),
                None => turn,
            };
        }
        AfterConflict::Foreign(foreign) => {
            return turn.note(Fact::ConflictFound(id)).note(Fact::Foreign(foreign));
        }
        AfterConflict::Settled => turn.note(Fact::UpToDate(id)),
        AfterConflict::Wait(why) => {
            let is_put_off = why.is_deleting();
            turn.note(Fact::Waits { child: id, why: Wait::Planned(why), is_put_off })
        }
    };
    leave(turn, live, view)
}

/// A child that left the cache exists. Its rival is searched before it is written.
fn found(
    write: Write,
    live: Option<&Object>,
    view: &View<'_>,
    again: impl FnOnce(Write) -> Turn<ChildNext>,
) -> Turn<ChildNext> {
    let (drift, search) = match live {
        Some(live) => Search::after_find(&write, live, view),
        None => (None, None),
    };
    let mut turn = again(write);
    turn.next = match (turn.next, search) {
        (Next::Done(After::Hand(task)), Some(search)) => {
            Next::Done(After::Hand(Box::new(Task::FindRival(search, task))))
        }
        (next, _) => next,
    };
    turn.facts.extend(drift);
    turn
}

fn leave(mut turn: Turn<ChildNext>, live: Option<Object>, view: &View<'_>) -> Turn<ChildNext> {
    if let Some(live) = live {
        let (fact, cache) = not_modified(view, live);
        turn.facts.extend(fact);
        turn.cache.push(cache);
    }
    turn
}

/// A write was refused for a reason that no new read can change.
pub(super) fn refused(refused: Refused, view: &View<'_>) -> Turn<ChildNext> {
    if immutable::is_allowed(&refused, view) {
        let request = Request::Read(refused.write.id.clone());
        return ask(request, AwaitedChild::Apply(Applying::Immutable(refused)));
    }
    failed(refused)
}

fn failed(Refused { write, error }: Refused) -> Turn<ChildNext> {
    let hint = immutable::hint(&write, &error);
    done().note(failed_with_hint(&write.id, error, hint))
}

/// The write of a child led to its deletion where none is possible any more.
pub(in crate::run) fn changed_while_claimed(child: &ChildId) -> Fact {
    waits(child, Wait::Others("it changed while its owner reference was written"))
}
