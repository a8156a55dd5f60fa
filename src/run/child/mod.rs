//! The writes of one child, one request at a time: a state machine for each way of writing.
//!
//! ```text
//! Write --> Takeover, Rival --> Apply --409--> Resolve --> Apply | Adopt | Dispute | Delete
//!                                 |  `--409, fields held--> Dispute
//!                                 `--422, immutable--> Delete
//! Delete --> (Recreate: dry runs) --> DELETE --409--> Delete
//! ```
//!
//! The modules never call each other: one hands over a [`Task`], and only this file knows which module takes
//! it.

mod accepted;
mod adopt;
mod apply;
mod attempt;
mod delete;
mod dispute;
mod dry_run;
mod held;
mod immutable;
mod recreate;
mod takeover;
mod task;

pub(super) use apply::changed_while_claimed;
pub(super) use delete::is_held;
pub(super) use held::held;
pub(super) use task::{After, AwaitedChild, ChildNext, Task};
use task::{ask, hand, later};

use super::{module_view::View, request::Answer, turn::Turn};

pub(super) fn begin(task: Task, view: &View<'_>) -> Turn<ChildNext> {
    match task {
        Task::Write(step) => apply::begin(step, view),
        Task::TakeOver(takeover) => takeover::begin(takeover),
        Task::FindRival(search, then) => {
            ask(search.request(), AwaitedChild::FindRival(search, then))
        }
        Task::Apply(attempt) => apply::send(attempt, view),
        Task::Resolve(attempt) => apply::look(attempt),
        Task::Settle(dispute) => dispute::begin(dispute, view),
        Task::Adopt(attempt, live) => adopt::begin(attempt, live),
        Task::Refused(refused) => apply::refused(refused, view),
        Task::Delete(deletion, tries) => delete::begin(deletion, tries, view),
        Task::Send(deletion, tries) => delete::send(deletion, tries, view),
        Task::Recreate(deletion, tries) => recreate::begin(deletion, tries, view),
        Task::Defer(deletion) => later(deletion),
    }
}

pub(super) fn answered(state: AwaitedChild, answer: Answer, view: &View<'_>) -> Turn<ChildNext> {
    match state {
        AwaitedChild::TakeOver(state) => takeover::answered(state, answer, view),
        AwaitedChild::FindRival(search, then) => {
            let fact = search.found(answer, view.settings.name());
            hand(*then).note(fact)
        }
        AwaitedChild::Apply(state) => apply::answered(state, answer, view),
        AwaitedChild::Adopt(state) => adopt::answered(state, answer, view),
        AwaitedChild::Dispute(state) => dispute::answered(state, answer, view),
        AwaitedChild::Delete(state) => delete::answered(state, answer, view),
        AwaitedChild::Recreate(state) => recreate::answered(state, answer, view),
    }
}
