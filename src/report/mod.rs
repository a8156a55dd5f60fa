//! The results of a reconcile: for the API and the page, for the schedule, and for the status and the Events
//! of its parent. Folds of the journal; nothing here changes what is reconciled.
//!
//! Layer 5. Pure.
//!
//! ```text
//! journal, redactor --> Report --+--> conditions, child status   the status of the parent
//!                                +--> decisions, outcome         history, page, metrics
//!                                +--> Finished                   the schedule
//!                                `--> announcements              Events and the log
//! ```
//!
//! Invariants:
//! - each fact is folded once, here or in the progress of the journal; a fold names every fact;
//! - what is decided depends on values; texts are made last;
//! - only the redactor shows texts of handlers and servers;
//! - an Event is not repeated while its cause stays the same, also by another process.

mod altered;
mod announced;
mod announcement;
mod announcer;
pub(crate) mod child_status;
pub(crate) mod conditions;
mod decisions;
pub(crate) mod deletions_held;
pub(crate) mod finished_jobs;
mod fold;
mod outcome;
pub(crate) mod pause;
pub(crate) mod problem;
pub(crate) mod ready;
mod returned;
mod rollout;
mod series;
mod shape;
mod shown;
mod undeclared;
mod waiting;

pub(crate) use announced::Announced;
pub(crate) use announcement::{Announcement, Author, number_of};
pub(crate) use announcer::{Announcer, once_per_operator};
pub(crate) use conditions::is_stalled;
pub(crate) use series::{EventLog, EventToSend, Occurrence};
pub(crate) use undeclared::undeclared;

use shape::News;
pub(crate) use shape::{Gauges, MemoryView, Over, Report};

use crate::{journal::Journal, object::Redactor, plan::ChildId};

impl Report {
    pub(crate) fn of(
        journal: &Journal,
        memory: MemoryView<'_>,
        redactor: &Redactor,
        parent: Option<&ChildId>,
    ) -> Self {
        let known = journal.progress().known_pause();
        let pause = known.map(|known| pause::shown_with(known, redactor));
        let mut report = Self { pause, ..fold::fold(journal, memory, redactor) };
        report.problems =
            parent.map(|parent| problem::of_report(&report, parent, memory)).unwrap_or_default();
        report
    }
}
