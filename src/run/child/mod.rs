//! What is written about one child, one request after the other: a state machine for each way of writing.
//!
//! ```text
//! Write --> Takeover, Rival --> Apply --409--> Resolve --> Apply | Adopt | Dispute | Delete
//!                                 |  `--409, fields held--> Dispute
//!                                 `--422, immutable--> Delete
//! Delete --> (Recreate: dry runs) --> DELETE --409--> Delete
//! ```
//!
//! A room never calls another one: what another room is to do is a [`Task`] that it answers with, and only
//! this file knows which room takes it.

mod adopt;
mod apply;
mod delete;
mod dispute;
mod immutable;
mod recreate;
mod takeover;

use super::{
    drift::rival,
    request::{Answer, Request},
    snapshot::View,
    turn::Turn,
};
use crate::{
    object::Object,
    plan::{Deletion, Step},
};

use apply::Attempt;
pub(super) use apply::changed_while_tied;
pub(super) use delete::is_held;
use dispute::Dispute;

/// How often one child is written in a reconcile when the answer is that it is not as we thought.
const TRIES: usize = 3;

/// What is to be done about a child.
#[derive(Debug)]
pub(super) enum Task {
    /// Begin with a step of the plan.
    Write(Step),
    /// Take it over from a predecessor, and then do something.
    TakeOver(takeover::Takeover),
    /// Find out who else writes it, and then do something.
    FindRival(rival::Search, Box<Task>),
    /// Send an apply.
    Apply(Attempt),
    /// Look at it after a conflict.
    Resolve(Attempt),
    /// Decide about fields that others hold.
    Settle(Dispute),
    /// Make an object of nobody the child.
    Adopt(Attempt, Object),
    /// See whether a refused change allows a deletion.
    Refused(apply::Refused),
    /// Delete it, for the so-many-th time.
    Delete(Deletion, usize),
    /// Find out whether a new object would differ from it.
    Recreate(Deletion, usize),
    /// Delete it when all writes are done.
    Defer(Deletion),
}

/// What is waited for.
#[derive(Debug)]
pub(super) enum State {
    TakeOver(takeover::State),
    FindRival(rival::Search, Box<Task>),
    Apply(apply::State),
    Adopt(adopt::State),
    Dispute(dispute::State),
    Delete(delete::State),
    Recreate(recreate::State),
}

/// What is next for a child.
#[derive(Debug)]
pub(super) enum Next {
    /// Send this, and continue with the answer.
    Ask(Request, Box<State>),
    /// Another room continues.
    Hand(Box<Task>),
    /// It is to be deleted when all writes are done.
    Delete(Deletion),
    /// Nothing. What is left of a child that was to be deleted, as it was last seen.
    Done(Option<Object>),
}

/// Begins a task.
pub(super) fn begin(task: Task, view: &View<'_>) -> Turn<Next> {
    match task {
        Task::Write(step) => apply::begin(step, view),
        Task::TakeOver(takeover) => takeover::begin(takeover),
        Task::FindRival(search, then) => ask(search.request(), State::FindRival(search, then)),
        Task::Apply(attempt) => apply::send(attempt, view),
        Task::Resolve(attempt) => apply::look(attempt),
        Task::Settle(dispute) => dispute::begin(dispute, view),
        Task::Adopt(attempt, live) => adopt::begin(attempt, live),
        Task::Refused(refused) => apply::refused(refused, view),
        Task::Delete(deletion, tries) => delete::begin(deletion, tries, view),
        Task::Recreate(deletion, tries) => recreate::begin(deletion, tries, view),
        Task::Defer(deletion) => Turn::new(Next::Delete(deletion)),
    }
}

/// Continues with the answer to a request.
pub(super) fn answered(state: State, answer: Answer, view: &View<'_>) -> Turn<Next> {
    match state {
        State::TakeOver(state) => takeover::answered(state, answer, view),
        State::FindRival(search, then) => {
            let fact = search.found(answer, view.settings.name());
            Turn::new(Next::Hand(then)).note(fact)
        }
        State::Apply(state) => apply::answered(state, answer, view),
        State::Adopt(state) => adopt::answered(state, answer, view),
        State::Dispute(state) => dispute::answered(state, answer, view),
        State::Delete(state) => delete::answered(state, answer, view),
        State::Recreate(state) => recreate::answered(state, answer, view),
    }
}

/// Nothing more is done about a child, as something has happened.
fn done() -> Turn<Next> {
    Turn::new(Next::Done(None))
}

fn hand(task: Task) -> Turn<Next> {
    Turn::new(Next::Hand(Box::new(task)))
}

fn ask(request: Request, state: State) -> Turn<Next> {
    Turn::new(Next::Ask(request, Box::new(state)))
}
