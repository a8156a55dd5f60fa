//! What a reconcile means: for those who look, for the schedule, and for the status and the Events of its
//! parent. Folds of the journal; nothing here changes what is reconciled.
//!
//! Layer 5. Pure.
//!
//! ```text
//! facts, redactor --> Report --+--> conditions, child status   the status of the parent
//!                              +--> decisions, outcome         history, page, metrics
//!                              `--> Finished                   the schedule
//! facts, Announced --> news                                    Events and the log
//! ```
//!
//! Invariants:
//! - what handlers and servers wrote is shown by the redactor alone;
//! - what was announced and stays the same is not announced again, also by another process.

mod altered;
mod announced;
pub(crate) mod child_status;
pub(crate) mod conditions;
mod decisions;
pub(crate) mod deletion_guard;
mod fold;
mod news;
mod outcome;
pub(crate) mod pause;
mod series;
mod shape;
mod shown;
mod undeclared;

pub use announced::Announced;
pub use news::{News, Teller, number_of, once};
pub use series::{EventLog, Occurrence, Telling};
pub use undeclared::undeclared;

pub use shape::{Gauges, Report, Standing};

use crate::{journal::Fact, object::Redactor};

impl Report {
    /// What some facts mean.
    pub fn of(facts: &[Fact], standing: Standing<'_>, redactor: &Redactor) -> Self {
        fold::fold(facts, standing, redactor)
    }
}
