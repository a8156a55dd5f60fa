//! What happened in one reconcile: facts in the order in which they became known, and the little of it
//! that decides how the reconcile continues.
//!
//! Layer 4. Pure. The journal ends with its reconcile; all that is shown of a reconcile is folded from
//! it in `report`.
//!
//! ```text
//! rooms of run --Fact--> Journal --+--> Progress   what the rooms may look at
//!                                  +--> facts      what report folds, and metrics counts
//! ```
//!
//! Invariants:
//! - facts are only ever appended;
//! - what handlers and servers wrote is in it as [`Quoted`](crate::object::Quoted), which only a
//!   redactor can show.

mod end;
mod fact;
mod failure;
mod pause;
mod progress;
mod wait;

pub use end::End;
pub use fact::{Fact, Left, Plan, Planned, Repeat, Written};
pub use failure::{Failure, RequestFailure, api_finished, in_the_way};
pub use pause::{Held, Pause, PausedBy};
pub use progress::Progress;
pub use wait::Wait;

/// The facts of one reconcile.
#[derive(Debug, Default)]
pub struct Journal {
    facts: Vec<Fact>,
    progress: Progress,
}

impl Journal {
    /// Appends a fact.
    pub fn append(&mut self, fact: Fact) {
        self.progress.learn(&fact);
        self.facts.push(fact);
    }

    /// What the facts so far mean for how the reconcile continues.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Every fact so far.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }
}
