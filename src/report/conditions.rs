//! The conditions of a reconcile, by the rules of kstatus; `docs/status.md` has the table.
//!
//! `Synced` and `Ready` always exist; a handler may set `Ready` while the parent is synced. `Reconciling` and
//! `Stalled` exist only while they hold, and never both: for kstatus their presence means "in progress" and
//! "failed".

use super::{
    Over, Report, deletions_held, finished_jobs, pause, problem, ready, rollout,
    shown::reason_shown, waiting::Only,
};
use crate::{
    history::Problem,
    journal::{Failure, Held},
    object::Object,
    operator::{Condition, SYNCED},
    plan::{ChildId, Flapping, FlappingReason},
};

const RECONCILING: &str = "Reconciling";
const STALLED: &str = "Stalled";
/// The reason of the condition and of the Event.
pub(super) const BLOCKED: &str = "BlockedByFinalizers";

pub(crate) fn of_report(report: &Report) -> Vec<Condition> {
    let conditions = match report.failure() {
        Some(failure) => failed(failure, &Problem::order(&report.problems)),
        None if is_stalled(report) => with(unfailed(report), STALLED),
        None if is_in_progress(report) => with(unfailed(report), RECONCILING),
        None => vec![unfailed(report)],
    };
    with_others(conditions, report)
}

/// Whether the condition `Stalled` is `True`.
pub(crate) fn is_stalled(report: &Report) -> bool {
    match report.failure() {
        Some(failure) => failure.is_stalled(),
        // The deletions wait for approval by an annotation.
        None if report.deletions_held.is_some() => true,
        None => report.paused.is_none() && (waits_for_others(report) || is_blocked(report)),
    }
}

/// Those of a failure that is shown before its reconcile ends.
pub(crate) fn of_failure(failure: &Failure, report: &Report, parent: &ChildId) -> Vec<Condition> {
    let order = Problem::order(&problem::of_one_failure(failure, parent));
    with_others(failed(failure, &order), report)
}

/// The conditions that Operetta set and that no longer apply. `DeletionsHeld` stays until no deletions are
/// held, and `JobsFinished` until there is a plan without such Jobs: they are the only record for the next process.
/// Those of rollouts stay while a pause or a failure keeps a
/// reconcile from judging them.
pub(crate) fn outdated(
    parent: &Object,
    current: &[Condition],
    over: Over,
    has_rollouts: bool,
) -> Vec<&'static str> {
    let is_over = over.held_deletions || parent.is_deleting();
    let mut ours = vec![RECONCILING, STALLED];
    if !has_rollouts {
        ours.extend(rollout::shown_by(parent));
    }
    ours.extend(pause::shown_by(parent).map(|_| pause::CONDITION));
    ours.extend(
        (is_over && deletions_held::shown_limit(parent).is_some())
            .then_some(deletions_held::CONDITION),
    );
    let shows_jobs = !finished_jobs::shown_by(parent).is_empty();
    ours.extend((over.finished_jobs && shows_jobs).then_some(finished_jobs::CONDITION));
    ours.extend(shows_flapping(parent).then_some(Flapping::CONDITION));
    ours.retain(|ty| current.iter().all(|condition| condition.ty != *ty));
    ours
}

/// `order` says what to do about it.
fn failed(failure: &Failure, order: &str) -> Vec<Condition> {
    let synced = not_synced(failure.reason(), format!("{failure}{order}"));
    with(synced, if failure.is_stalled() { STALLED } else { RECONCILING })
}

/// `Synced`, and a condition with the same reason and message.
fn with(synced: Condition, ty: &str) -> Vec<Condition> {
    let Condition { reason, message, .. } = synced.clone();
    vec![synced, Condition::new(ty, true, reason, message)]
}

/// `Synced` is the first.
fn with_others(mut conditions: Vec<Condition>, report: &Report) -> Vec<Condition> {
    let ready = ready::condition(&conditions[0], report);
    conditions.splice(1..1, ready);
    conditions.extend(pause::condition(report));
    conditions.extend(report.deletions_held.clone());
    conditions.extend(report.flapping.clone());
    conditions.extend(rollout::conditions(&report.rollouts));
    conditions.extend(report.finished_jobs.as_ref().and_then(finished_jobs::condition));
    conditions
}

/// Whether work remains that needs no change of the parent.
fn is_in_progress(report: &Report) -> bool {
    report.paused.is_none() && (!report.waits.is_empty() || !report.writes.is_empty())
}

/// Whether only fields held by others, and deletions that wait for them, are missing.
fn waits_for_others(report: &Report) -> bool {
    report.is_contested && matches!(report.waits.only(), Only::Nothing | Only::Writes)
}

/// Whether nothing but finalizers of others is waited for, and has been for minutes.
fn is_blocked(report: &Report) -> bool {
    let (waits, blocked) = (&report.waits, &report.blocked);
    !blocked.is_empty()
        && report.writes.is_empty()
        && waits.texts_of(blocked).len() == waits.all().len()
}

fn unfailed(report: &Report) -> Condition {
    if report.paused.is_some_and(|pause| pause.held != Held::Writes(0)) {
        return not_synced(pause::CONDITION, report.waits.texts().join("; "));
    }
    if report.deletions_held.is_some() {
        return not_synced(deletions_held::CONDITION, report.waits.texts().join("; "));
    }
    if report.is_contested {
        let reason = if waits_for_others(report) { "Conflict" } else { "Waiting" };
        let all = [report.held.clone(), report.waits.texts()].concat();
        return not_synced(reason, all.join("; ") + &Problem::order(&report.problems));
    }
    if is_blocked(report) {
        let order = Problem::order(&report.problems);
        return not_synced(BLOCKED, report.waits.texts().join("; ") + &order);
    }
    if !report.waits.is_empty() {
        return not_synced("Waiting", report.waits.texts().join("; "));
    }
    if !report.writes.is_empty() {
        let message = "the children were written in several reconciles in a row";
        return not_synced("Unsettled", message.to_owned());
    }
    Condition::new(SYNCED, true, "Synced", settled(&report.held))
}

fn settled(held: &[String]) -> String {
    let settled = "all children are up to date".to_owned();
    if held.is_empty() { settled } else { format!("{settled}, except: {}", held.join("; ")) }
}

/// Whether the parent shows the condition `Flapping`.
fn shows_flapping(parent: &Object) -> bool {
    let reason = reason_shown(parent, Flapping::CONDITION);
    reason.is_some_and(|reason| FlappingReason::ALL.iter().any(|why| why.name() == reason))
}

fn not_synced(reason: &str, message: String) -> Condition {
    Condition::new(SYNCED, false, reason, message)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        history::{Verb, WriteRecord},
        journal::{NotReady, Pause, PausedBy, RequestFailure},
        object::Quoted,
        operator::READY,
        plan::Exceeded,
        reply::{ApiError, Refusal},
        report::waiting::Waiting,
    };

    type Change = fn(&mut Report);

    fn report(change: Change) -> Report {
        let mut report = Report::default();
        change(&mut report);
        report
    }

    fn api(report: &mut Report, code: u16) {
        let refusal = Box::new(Refusal::answered(code));
        let request = "patch /x".to_owned();
        let failure = RequestFailure::new("x".to_owned(), ApiError::Refused { request, refusal });
        match &mut report.failure {
            Some(Failure::Api(failures)) => failures.push(failure),
            other => *other = Some(Failure::Api(vec![failure])),
        }
    }

    fn handler(report: &mut Report, permanent: bool) {
        let message = Quoted::new("no");
        report.failure = Some(Failure::Handler { message, permanent, retry_after: None });
    }

    fn waits(report: &mut Report) {
        report.waits.push(Waiting::Parent("c".to_owned()));
    }

    fn not_ready(report: &mut Report) {
        report.not_ready = Some(NotReady::Handler(Quoted::new("a child is starting")));
    }

    fn pause(report: &mut Report, held: Held) {
        report.paused = Some(Pause { by: PausedBy::Annotation, held });
    }

    /// `Synced` with its reason, and the types of the other conditions. `Ready` is shown where it differs.
    fn shown(report: &Report) -> String {
        let all = of_report(report);
        assert_eq!(is_stalled(report), all.iter().any(|it| it.ty == STALLED));
        let synced = format!("{} {}", all[0].status, all[0].reason);
        let of_other = |Condition { ty, status, reason, message, .. }: &Condition| {
            if ty == READY && reason == "ChildrenNotReady" {
                return format!(" {ty}={status}, {reason}");
            }
            if ty == READY {
                let is_same = (reason, message) == (&all[0].reason, &all[0].message);
                assert!(is_same || (all[0].is_true() && reason == "ChildrenReady"));
                return String::new();
            }
            format!(" {ty}")
        };
        let others = all[1..].iter().map(of_other);
        std::iter::once(synced).chain(others).collect()
    }

    #[test]
    fn the_conditions_follow_the_state_of_the_reconcile() {
        let table: &[(Change, &str)] = &[
            (|_| {}, "True Synced"),
            (not_ready, "True Synced Ready=False, ChildrenNotReady"),
            (
                |report| {
                    not_ready(report);
                    handler(report, false);
                },
                "False HandlerFailed Reconciling",
            ),
            (|report| report.held.push("c".to_owned()), "True Synced"),
            (waits, "False Waiting Reconciling"),
            (
                |report| {
                    let child = "c".to_owned();
                    report.writes.push(WriteRecord {
                        child,
                        verb: Verb::Updated,
                        paths: vec![],
                        drift: None,
                    });
                },
                "False Unsettled Reconciling",
            ),
            (|report| handler(report, false), "False HandlerFailed Reconciling"),
            (|report| handler(report, true), "False HandlerFailed Stalled"),
            (
                |report| report.failure = Some(Failure::Panicked(Quoted::new(""))),
                "False HandlerPanicked Reconciling",
            ),
            (
                |report| {
                    report.failure =
                        Some(Failure::HandlerTimeout { after: Duration::ZERO, hangs: true });
                },
                "False HandlerTimeout Reconciling",
            ),
            (
                |report| report.failure = Some(Failure::Refused(vec![])),
                "False InvalidChildren Stalled",
            ),
            (|report| report.failure = Some(Failure::Foreign(vec![])), "False Conflict Stalled"),
            (|report| api(report, 422), "False WriteFailed Stalled"),
            (|report| api(report, 403), "False WriteFailed Reconciling"),
            (|report| api(report, 429), "False WriteFailed Reconciling"),
            (
                |report| {
                    api(report, 422);
                    api(report, 500);
                },
                "False WriteFailed Reconciling",
            ),
            (
                |report| {
                    let why = Exceeded::Reconcile { allowed: 1 };
                    report.deletions_held = Some(deletions_held::condition(why, "many"));
                },
                "False DeletionsHeld Stalled DeletionsHeld",
            ),
            (|report| pause(report, Held::Writes(0)), "True Synced Paused"),
            (
                |report| {
                    pause(report, Held::Writes(1));
                    waits(report);
                },
                "False Paused Paused",
            ),
            (|report| pause(report, Held::Finalizing), "False Paused Paused"),
            (
                |report| {
                    pause(report, Held::Undecided);
                    handler(report, true);
                },
                "False HandlerFailed Stalled Paused",
            ),
        ];
        for (change, expected) in table {
            assert_eq!(shown(&report(*change)), *expected);
        }
    }

    #[test]
    fn a_ready_of_the_handler_holds_while_the_parent_is_synced() {
        let returned = |report: &mut Report| report.is_ready_returned = true;
        let types = |report: &Report| {
            of_report(report).into_iter().map(|it| it.ty).collect::<Vec<_>>().join(" ")
        };
        let mut report = report(returned);
        assert_eq!(types(&report), "Synced");
        handler(&mut report, false);
        assert_eq!(types(&report), "Synced Ready Reconciling");
    }
}
