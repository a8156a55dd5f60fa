//! The facts of one reconcile in their order, and the summary of them that decides how it continues.
//!
//! Layer 4. Pure. The journal ends with its reconcile; `report` folds everything shown from it.
//!
//! ```text
//! modules of run --Fact--> Journal --+--> Progress   what the modules may read
//!                                    +--> facts      what report folds, and metrics counts
//! ```
//!
//! Invariants:
//! - facts are only ever appended;
//! - texts of handlers and servers are stored as [`Quoted`](crate::object::Quoted), which only a redactor can
//!   show.

mod end;
mod fact;
mod failure;
mod not_ready;
mod pause;
mod progress;
mod returned_event;
mod rolled_out;
mod unapproved;
mod wait;

pub(crate) use end::End;
pub(crate) use fact::{Decorated, Fact, Left, Planned, PlannedAs, Repeat, Written};
pub(crate) use failure::{
    Failure, ParentConflict, RequestFailure, RolloutStopped, StageTimeout, api_finished,
    foreign_message, is_made_of,
};
pub(crate) use not_ready::NotReady;
pub(crate) use pause::{Held, Pause, PausedBy};
pub(crate) use progress::{FailedBy, Progress};
pub(crate) use returned_event::ReturnedEvent;
pub(crate) use rolled_out::RolledOut;
pub(crate) use unapproved::Unapproved;
pub(crate) use wait::{Behind, Wait};

#[derive(Debug, Default)]
pub(crate) struct Journal {
    facts: Vec<Fact>,
    progress: Progress,
}

impl Journal {
    pub(crate) fn append(&mut self, fact: Fact) {
        self.progress.learn(&fact);
        self.facts.push(fact);
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(crate) fn facts(&self) -> &[Fact] {
        &self.facts
    }
}
