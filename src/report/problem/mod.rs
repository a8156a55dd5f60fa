//! What keeps a parent from being up to date and ready: what, why, and what cures it.
//!
//! ```text
//! Failure  --handler, refused--+
//! requests --refused (case)----+
//! waits    --held, unready-----+--> Trouble --merged--> Problem --> page, API, CLI
//! not ready --unready----------+                            `-----> the end of conditions and Events
//! ```
//!
//! Invariants:
//! - the worst problem is the first: what failed, then what waits, then what is not ready;
//! - a command contains only names that are quoted for a shell;
//! - only texts that the redactor has processed are shown;
//! - nothing depends on the time: a condition is not written again because of it;
//! - what weakens a protection is never the first action.

mod case;
mod dependants;
mod grant;
mod handler;
mod held;
pub(crate) mod kubectl;
mod lacking;
mod name;
mod named;
mod pod;
mod quota;
mod refused;
mod trouble;
mod unready;

pub(crate) use dependants::Deeper;
pub(crate) use handler::{of_operator, unreadable};
pub(crate) use refused::unanswered;

use super::{MemoryView, Report, waiting::Waiting};
use crate::{
    history::{Action, Problem},
    journal::{Failure, RequestFailure, Unapproved, Wait},
    plan::{ChildId, FlappingSummary},
};
use trouble::{Trouble, merged};

/// The most problems of one reconcile.
const MOST: usize = 10;

/// The problems of a reconcile of this parent, the worst first.
pub(super) fn of_report(report: &Report, parent: &ChildId, memory: MemoryView<'_>) -> Vec<Problem> {
    let mut troubles = report.failure().map(|it| of_failure(it, parent)).unwrap_or_default();
    if let (true, Some(Failure::Unavailable(_) | Failure::RelatedUnavailable(_))) =
        (memory.is_leaving, report.failure())
    {
        troubles = troubles.into_iter().map(|it| handler::before_it_goes(parent, it)).collect();
    }
    troubles.extend(report.beside.iter().map(|it| request(it, parent)));
    troubles.extend(deletions_held(report, parent));
    if report.failure().is_none() {
        troubles.extend(memory.last_applied.contested().filter_map(held::contested));
    }
    troubles.extend(report.waits.all().iter().filter_map(of_wait));
    troubles.extend(report.not_ready.iter().flat_map(|it| unready::parent(parent, it)));
    let mut problems = merged(troubles);
    problems.truncate(MOST);
    problems
}

/// The problems of a failure that is shown before its reconcile ends.
pub(crate) fn of_one_failure(failure: &Failure, parent: &ChildId) -> Vec<Problem> {
    merged(of_failure(failure, parent))
}

/// A parent that is being deleted and waits for these finalizers of others.
pub(crate) fn of_ending(parent: &ChildId, finalizers: &[String]) -> Vec<Problem> {
    merged(vec![held::terminating(parent, finalizers)])
}

/// What is written again and again, which may be so beside a reconcile that went well.
pub(crate) fn of_flapping(summary: &FlappingSummary, parent: &ChildId) -> Vec<Problem> {
    merged(vec![held::flapping(parent, summary)])
}

fn of_failure(failure: &Failure, parent: &ChildId) -> Vec<Trouble> {
    match failure {
        Failure::Unavailable(why) | Failure::RelatedUnavailable(why) => {
            vec![handler::unavailable(parent, why)]
        }
        Failure::InvalidRelated(error) => vec![handler::invalid_related(parent, error)],
        Failure::Handler { message, permanent, retry_after } => {
            vec![handler::failed(parent, message, *permanent, *retry_after)]
        }
        Failure::Panicked(message) => vec![handler::panicked(parent, message)],
        Failure::HandlerTimeout { after, hangs } => {
            vec![handler::timed_out(parent, *after, *hangs)]
        }
        Failure::Refused(refusals) => handler::invalid(parent, refusals),
        Failure::Foreign(children) => children.iter().map(held::foreign).collect(),
        Failure::Api(failures) => failures.iter().map(|it| request(it, parent)).collect(),
        Failure::ParentConflict(conflict) => vec![held::parent_conflict(parent, conflict)],
        Failure::StageTimeout(late) => vec![unready::stage(late)],
        Failure::RolloutStopped(stopped) => vec![unready::rollout(stopped, parent)],
        Failure::InternalError | Failure::ImpossibleStep { .. } => {
            let report = Action::text("Report it with the output of the process");
            vec![
                Trouble::of(parent, "met a bug in Operetta")
                    .because(failure.to_string())
                    .cured_by([report]),
            ]
        }
    }
}

fn request(failure: &RequestFailure, parent: &ChildId) -> Trouble {
    match &failure.about {
        Some(child) if failure.is_misnamed() => {
            held::misnamed(child, parent, &failure.message.to_string())
        }
        _ => refused::trouble(failure, parent),
    }
}

fn of_wait(waiting: &Waiting) -> Option<Trouble> {
    match waiting {
        Waiting::Child(child, Wait::Behind(behind) | Wait::Rollout(behind)) => {
            Some(unready::behind(child, behind))
        }
        Waiting::Child(child, why) => held::waiting(child, why),
        // The parent waits for a child that has a line of its own, or for the end of a pause.
        Waiting::Parent(_) | Waiting::Deletions(_) => None,
    }
}

/// Deletions that wait for an approval.
fn deletions_held(report: &Report, parent: &ChildId) -> Option<Trouble> {
    let Unapproved { why, approve, .. } = &**report.unapproved.as_ref()?;
    let trouble = Trouble::of(parent, "holds deletions that need an approval").because(why);
    Some(trouble.cured_by([
        Action::command("If they are wanted, allow them", approve),
        Action::command("If not, correct the parent", kubectl::on("edit", parent)),
    ]))
}

#[cfg(test)]
mod tests;
