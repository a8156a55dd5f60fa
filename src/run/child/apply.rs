//! Creating or updating one child by server-side apply, and what follows from the answer.
//!
//! | answer | what follows |
//! |---|---|
//! | the object as it was before | it is up to date |
//! | the object | it was written |
//! | 409, fields held by others | a dispute |
//! | 409, or gone, or another uid | a live look, which decides |
//! | 422 for an immutable field, and the type allows it | its deletion, so that it can be created again |
//! | anything else | it failed |

use super::{
    Next, State as ChildState, TRIES, Task, Turn, View, ask, dispute, done, hand, immutable,
    takeover,
};
use crate::{
    cluster::{ApiError, ErrorClass},
    history::Verb,
    journal::{Fact, Left, Wait, Written},
    object::Object,
    plan::{AfterConflict, ChildId, ForeignChild, Settled, Step, Write, after_conflict},
    run::{
        drift::rival::Search,
        effect::Cache,
        guard::as_planned,
        request::{Answer, Force, Reply, Request},
        turn::{StopReason, child_failed, failed_with_hint, left_alone, put_off, waits},
    },
};

/// An apply that is to be sent.
#[derive(Debug)]
pub(in crate::run) struct Attempt {
    pub(super) write: Write,
    pub(super) verb: Verb,
    /// How often the child was written before in this reconcile.
    pub(super) tries: usize,
    /// Why it was not written then.
    pub(super) error: Option<ApiError>,
}

/// A write that the server refuses.
#[derive(Debug)]
pub(in crate::run) struct Refused {
    pub(super) write: Write,
    pub(super) error: ApiError,
}

/// What is waited for.
#[derive(Debug)]
pub(in crate::run) enum State {
    /// A look at what was in the way of a create.
    InTheWay(Write, ForeignChild),
    /// The answer to an apply. With the child as it was cached before the request: the event of the write
    /// may be faster than its reply.
    Sent(Attempt, Option<Object>),
    /// A look at the child after a conflict.
    Looking(Attempt),
    /// A look at the parent, before a child that others deleted is created again.
    Parent(Attempt),
    /// A look at a child that cannot be changed.
    Immutable(Refused),
}

impl Attempt {
    /// A first attempt.
    pub(in crate::run) fn new(write: Write, verb: Verb) -> Self {
        Self { write, verb, tries: 0, error: None }
    }

    fn id(&self) -> &ChildId {
        &self.write.id
    }

    fn step(&self) -> Step {
        let write = self.write.clone();
        if write.is_creating() { Step::Create(write) } else { Step::Update(write) }
    }

    /// The same child with another write, if it may be written once more.
    pub(super) fn again(self, write: Write, verb: Verb, view: &View<'_>) -> Turn<Next> {
        let Self { tries, error, .. } = self;
        let next = Self { write, verb, tries, error };
        match next.error {
            Some(error) if tries == TRIES => done().note(child_failed(&next.write.id, error)),
            _ => match next.stopped(view) {
                Some(stopped) => stopped,
                None => hand(Task::Apply(next)),
            },
        }
    }

    /// The end, if nothing more is to be written.
    fn stopped(&self, view: &View<'_>) -> Option<Turn<Next>> {
        let stop = StopReason::before(view, self.verb)?;
        let mut turn = done();
        turn.facts = stop.hold(&self.step(), view);
        Some(turn)
    }
}

/// Begins with a step of the plan.
pub(super) fn begin(step: Step, view: &View<'_>) -> Turn<Next> {
    let id = step.id().clone();
    let then = match step {
        Step::Create(write) => match view.memory.foreign().get(&id) {
            Some(known) => {
                let state = State::InTheWay(write, known.clone());
                return ask(Request::Read(id), ChildState::Apply(state));
            }
            None => Task::Apply(Attempt::new(write, Verb::Created)),
        },
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

/// Sends an apply.
pub(super) fn send(attempt: Attempt, view: &View<'_>) -> Turn<Next> {
    let id = attempt.id().clone();
    let force = if view.settings.forces(&id) { Force::Yes } else { Force::No };
    let before = view.snapshot.cached(&id);
    let request = Request::apply(&id, &attempt.write.body, force);
    let attempt = Attempt { tries: attempt.tries + 1, ..attempt };
    ask(request, ChildState::Apply(State::Sent(attempt, before)))
}

/// Looks at a child after a conflict.
pub(super) fn look(attempt: Attempt) -> Turn<Next> {
    ask(Request::Read(attempt.id().clone()), ChildState::Apply(State::Looking(attempt)))
}

/// Continues with an answer.
pub(super) fn answered(state: State, answer: Answer, view: &View<'_>) -> Turn<Next> {
    match state {
        State::InTheWay(write, known) => in_the_way(write, known, Reply::object(answer)),
        State::Sent(attempt, before) => concluded(attempt, before, Reply::written(answer), view),
        State::Looking(attempt) => match Reply::object(answer) {
            Ok(live) => resolved(attempt, live, view),
            Err(error) => done().note(child_failed(attempt.id(), error)),
        },
        State::Parent(attempt) => match Reply::object(answer) {
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
        State::Immutable(refused) => match Reply::object(answer) {
            Ok(live) => match live.and_then(|live| immutable::deletion(&refused, &live, view)) {
                Some(deletion) => hand(Task::Defer(deletion)),
                None => failed(refused, view),
            },
            Err(error) => done().note(child_failed(&refused.write.id, error)),
        },
    }
}

fn in_the_way(
    write: Write,
    known: ForeignChild,
    live: Result<Option<Object>, ApiError>,
) -> Turn<Next> {
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
) -> Turn<Next> {
    let error = match reply {
        Ok(reply) if before.as_ref() == Some(&reply) => {
            return wrote_nothing(&attempt.write, &reply, view);
        }
        Ok(reply) => return written(&attempt.write, attempt.verb, reply, view),
        Err(error) => error,
    };
    let id = attempt.id().clone();
    // What is in the way of a create may not be a child at all.
    let held = if attempt.write.is_creating() { Vec::new() } else { dispute::held(&error) };
    if held.is_empty() && error.class() != ErrorClass::Conflict {
        let refused = Refused { write: attempt.write, error };
        return hand(Task::Refused(refused)).note(Fact::FoundWay(id));
    }
    if let Some(stopped) = attempt.stopped(view) {
        return stopped;
    }
    attempt.error = Some(error);
    if held.is_empty() {
        return hand(Task::Resolve(attempt));
    }
    let dispute = dispute::Dispute::new(attempt, before, held);
    hand(Task::Settle(dispute)).note(Fact::FoundWay(id))
}

/// Decides with the live object after a conflict.
fn resolved(attempt: Attempt, live: Option<Object>, view: &View<'_>) -> Turn<Next> {
    // If anything is in the way, it is what is found now.
    let id = attempt.id().clone();
    let turn = done().note(Fact::FoundWay(id.clone()));
    let (config, name) = (view.settings.config(), view.settings.name());
    let write = attempt.write.clone();
    let turn = match after_conflict(config, name, view.parent, write, live.as_ref()) {
        AfterConflict::CreateAgain(write) => {
            let state = State::Parent(Attempt { write, ..attempt });
            let parent = Request::Read(ChildId::of(view.parent));
            return turn.before(ask(parent, ChildState::Apply(state)));
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

/// A child that seemed to be gone is there. Who changed it is found out before it is written.
fn found(
    write: Write,
    live: Option<&Object>,
    view: &View<'_>,
    again: impl FnOnce(Write) -> Turn<Next>,
) -> Turn<Next> {
    let (drift, search) = match live {
        Some(live) => Search::after_find(&write, live, view),
        None => (None, None),
    };
    let mut turn = again(write);
    turn.next = match (turn.next, search) {
        (Next::Hand(task), Some(search)) => Next::Hand(Box::new(Task::FindRival(search, task))),
        (next, _) => next,
    };
    turn.facts.extend(drift);
    turn
}

fn leave(mut turn: Turn<Next>, live: Option<Object>, view: &View<'_>) -> Turn<Next> {
    if let Some(live) = live {
        let (fact, cache) = left_alone(view, live);
        turn.facts.extend(fact);
        turn.cache.push(cache);
    }
    turn
}

/// A write was refused, and no second look at the object can change that.
pub(super) fn refused(refused: Refused, view: &View<'_>) -> Turn<Next> {
    if immutable::is_allowed(&refused, view) {
        let request = Request::Read(refused.write.id.clone());
        return ask(request, ChildState::Apply(State::Immutable(refused)));
    }
    failed(refused, view)
}

fn failed(Refused { write, error }: Refused, view: &View<'_>) -> Turn<Next> {
    let hint = immutable::hint(&write, &error, view);
    done().note(failed_with_hint(&write.id, error, hint))
}

/// The server accepted a write.
pub(super) fn written(write: &Write, verb: Verb, reply: Object, view: &View<'_>) -> Turn<Next> {
    let mut rewrite = view.drift.rewrite_of(&write.id).cloned();
    // What others hold was to be written as well, and was not.
    if let Some(rewrite) = rewrite.as_mut()
        && verb == Verb::Updated
        && !write.paths.is_empty()
    {
        rewrite.paths.clone_from(&write.paths);
    }
    let left = Left::As(Settled::new(write, &reply, view.settings.name()));
    let (child, paths) = (write.id.clone(), write.paths.clone());
    let turn = done().note(Fact::Written(Written { child, verb, paths, rewrite, left }));
    if view.settings.is_watched(&reply) {
        turn.cache([Cache::Wrote(reply)])
    } else {
        // In the cache it would stay as it is now, whatever becomes of it.
        turn.note(child_failed(&write.id, view.settings.unlabelled()))
    }
}

/// The server found nothing to change: not worth a second try.
pub(super) fn wrote_nothing(write: &Write, reply: &Object, view: &View<'_>) -> Turn<Next> {
    let settled = Settled::new(write, reply, view.settings.name());
    done().note(Fact::WroteNothing { paths: write.paths.clone(), settled })
}

/// The object is another one by now.
pub(super) fn outdated(child: &ChildId) -> Turn<Next> {
    done().note(put_off(child, "it changes while it is to be adopted"))
}

/// The write of a child led to its deletion where none is possible any more.
pub(in crate::run) fn changed_while_tied(child: &ChildId) -> Fact {
    waits(child, Wait::Others("it changed while it was tied to its parent"))
}
