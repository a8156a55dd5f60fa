//! From facts to a [`Report`].

use super::{Gauges, MemoryView, Report, altered, decisions, shape::is_reported};
use crate::{
    history::{Drift, Verb, WriteRecord},
    journal::{
        Decorated, End, Fact, Failure, Left, ParentConflict, Planned, RequestFailure, Wait,
        Written, foreign_message,
    },
    object::Redactor,
    operator::ChildState,
    plan::{ChildId, ForeignChild, WaitingReason},
};

pub(super) fn fold(facts: &[Fact], memory: MemoryView<'_>, redactor: &Redactor) -> Report {
    let report = Report {
        calms_in: memory.calms_in,
        flapping: memory.flapping.condition(),
        holds_no_deletions: memory
            .deletion_guard
            .is_some_and(|deletion_guard| !deletion_guard.is_holding()),
        ..Report::default()
    };
    let (failed, requests, foreign, throttled_by, is_planned, behind, parent_held) = <_>::default();
    let mut fold = Fold {
        redactor,
        report,
        failed,
        requests,
        foreign,
        parent_held,
        throttled_by,
        is_planned,
        behind,
    };
    for fact in facts {
        fold.learn(fact);
    }
    fold.finish(memory)
}

struct Fold<'a> {
    redactor: &'a Redactor,
    report: Report,
    failed: Option<Failure>,
    requests: Vec<RequestFailure>,
    foreign: Vec<ForeignChild>,
    parent_held: Option<ParentConflict>,
    /// The index of the request that was throttled.
    throttled_by: Option<usize>,
    /// Whether a plan was carried out or held.
    is_planned: bool,
    /// What children wait for, and these children.
    behind: Vec<(String, Vec<ChildId>)>,
}

impl Fold<'_> {
    fn learn(&mut self, fact: &Fact) {
        let report = &mut self.report;
        match fact {
            Fact::Parent(end) => report.end = *end,
            Fact::Paused(pause) => report.paused = Some(*pause),
            Fact::ParentWaits(why) => report.waiting.push(why.clone()),
            Fact::Resync(after) => report.resync = Some(*after),
            Fact::Failed(failure) => self.failed = Some(failure.shown(self.redactor)),
            Fact::Planned(planned) => self.planned(planned),
            Fact::Judged { held: Some((_, children, message)), .. } => {
                for child in children {
                    self.state(child, ChildState::Held, "its deletion waits for approval");
                }
                self.report.waiting.push(message.clone());
                self.report.deletion_guard = Some(message.clone());
            }
            Fact::UpToDate(child) => {
                report.unchanged += 1;
                self.state(child, ChildState::Synced, "");
            }
            Fact::Waits { child, why, .. } => self.waits(child, &why.shown(self.redactor)),
            Fact::RolledOut(rollout) => report.rollouts.push(rollout.clone()),
            Fact::StageDue(after) => {
                report.stage_due = Some(report.stage_due.map_or(*after, |known| known.min(*after)));
            }
            Fact::Written(written) => self.written(written),
            Fact::WroteNothing { paths, settled } => {
                report.unchanged += 1;
                let (child, verb) = (settled.id.to_string(), Verb::Unchanged);
                let paths = paths.clone();
                report.noop_writes.push(WriteRecord { child, verb, paths, drift: None });
            }
            Fact::RequestFailed { child, failure } => self.request_failed(child.as_ref(), failure),
            Fact::Foreign(child) => {
                self.state(&child.id, ChildState::Conflict, &foreign_message(child));
                self.foreign.push(child.clone());
            }
            Fact::Unwatched => report.unwatched += 1,
            Fact::Repeated(repeat) if repeat.times > 0 => {
                report.slowed = report.slowed.max(Some(repeat.times));
            }
            Fact::FinalizersDelayed(times) | Fact::DecorationDelayed(times) => {
                report.slowed = report.slowed.max(Some(*times));
            }
            Fact::Slowed { now, .. } => report.slowed = *now,
            Fact::StatusWritten => {
                report.wrote_status = true;
                report.status_is_due = false;
            }
            Fact::StatusDue => report.status_is_due = true,
            Fact::ReadyReturned => report.is_ready_returned = true,
            Fact::NotReady(why) => report.not_ready = Some(why.shown(self.redactor)),
            Fact::StatusFailed(failure) => self.status_failed(failure),
            Fact::ParentHeld(conflict) => match &mut self.parent_held {
                Some(known) => known.held.extend(conflict.held.iter().cloned()),
                None => self.parent_held = Some(conflict.clone()),
            },
            Fact::Decorated(Decorated { parent, paths, .. }) => {
                let (child, verb, paths) = (parent.to_string(), Verb::Updated, paths.clone());
                report.writes.push(WriteRecord { child, verb, paths, drift: None });
            }
            Fact::Scaled { parent, replicas } => {
                let (child, verb) = (parent.to_string(), Verb::Updated);
                let paths = vec![format!(".spec.replicas = {replicas}")];
                report.writes.push(WriteRecord { child, verb, paths, drift: None });
            }
            Fact::WritesEnded { .. } | Fact::WritesHeld(_) => self.is_planned = true,
            _ => {}
        }
    }

    fn planned(&mut self, planned: &Planned) {
        let Planned { up_to_date, replacing, finished_jobs, children, .. } = planned;
        self.report.finished_jobs = Some(finished_jobs.clone());
        self.report.unchanged = *up_to_date;
        self.report.replacing.clone_from(replacing);
        self.report.planned.clone_from(children);
    }

    fn waits(&mut self, child: &ChildId, why: &Wait) {
        self.state(child, why.state(), &why.to_string());
        if let Some(what) = why.shared() {
            return self.behind(child, what);
        }
        let text = format!("{child}: {why}");
        match why {
            Wait::Planned(WaitingReason::OnDelete { .. }) => {
                self.report.held.push(text);
                return;
            }
            Wait::Planned(WaitingReason::TypeNotSynced) => {
                self.report.unsynced.push(child.clone());
            }
            Wait::Writes => self.report.behind_writes += 1,
            Wait::Throttled => {
                let by = self.throttled_by.and_then(|at| self.requests.get_mut(at));
                if let Some(failure) = by {
                    failure.held_back += 1;
                }
            }
            Wait::Planned(WaitingReason::Deleting { .. })
            | Wait::Paused { .. }
            | Wait::EndPaused
            | Wait::Behind(_)
            | Wait::Rollout(_)
            | Wait::RolloutStopped
            | Wait::BehindDeletion(_)
            | Wait::Others(_) => {}
        }
        self.report.waiting.push(text);
    }

    /// Many children may wait for the same one.
    fn behind(&mut self, child: &ChildId, what: String) {
        match self.behind.iter_mut().find(|(known, _)| *known == what) {
            Some((_, children)) => children.push(child.clone()),
            None => self.behind.push((what, vec![child.clone()])),
        }
    }

    fn written(&mut self, written: &Written) {
        let Written { child, verb, paths, rewrite, left } = written;
        self.report.recreated += usize::from(matches!(left, Left::ToRecreate { .. }));
        let drift = rewrite.as_ref().filter(|_| written.is_drift()).map(|rewrite| {
            let manager = rewrite.changed_by.clone();
            Box::new(Drift { manager, from: rewrite.from.clone(), to: rewrite.to.clone() })
        });
        let (child, paths) = (child.to_string(), paths.clone());
        self.report.writes.push(WriteRecord { child, verb: *verb, paths, drift });
    }

    /// Merges equal failures.
    fn request_failed(&mut self, child: Option<&ChildId>, failure: &RequestFailure) {
        let failure = failure.shown(self.redactor);
        if let Some(child) = child {
            self.state(child, ChildState::Failed, &failure.message.to_string());
            self.report.refused.push(child.clone());
        }
        let is_same = |known: &RequestFailure| {
            known.what == failure.what && known.error.to_string() == failure.error.to_string()
        };
        let known = self.requests.iter().position(is_same);
        let at = known.unwrap_or(self.requests.len());
        if failure.is_throttled() {
            self.throttled_by = Some(at);
        }
        match known {
            Some(known) if !failure.hint.is_empty() => self.requests[known].hint = failure.hint,
            Some(_) => {}
            None => self.requests.push(failure),
        }
    }

    /// A failed status write fails the reconcile, unless that has failed already.
    fn status_failed(&mut self, failure: &RequestFailure) {
        let failure = failure.shown(self.redactor);
        if self.failed.is_none() && self.requests.is_empty() && self.foreign.is_empty() {
            self.requests.push(failure);
        } else {
            self.report.beside.push(failure);
        }
    }

    fn state(&mut self, child: &ChildId, state: ChildState, why: &str) {
        self.report.states.insert(child.clone(), (state, why.to_owned()));
    }

    fn finish(mut self, memory: MemoryView<'_>) -> Report {
        let report = &mut self.report;
        report.behind_children = self.behind.len();
        report.waiting.extend(self.behind.iter().map(|(what, children)| wait_for(what, children)));
        report.failure = match self.failed {
            Some(failure) => {
                report.beside.extend(self.requests);
                Some(failure)
            }
            None if !self.requests.is_empty() => Some(Failure::Api(self.requests)),
            None if !self.foreign.is_empty() => Some(Failure::Foreign(self.foreign)),
            None => self.parent_held.map(Failure::ParentConflict),
        };
        let contested = || memory.last_applied.contested();
        report.is_contested = contested().any(|known| is_reported(known.policy));
        report.recreates_first = report.recreated > 0 && memory.has_deferred_wait;
        report.gauges = gauges(report, memory);
        if self.is_planned {
            report.held.extend(contested().map(ToString::to_string));
            report.held.extend(altered::texts(memory.last_applied));
        }
        let decisions = decisions::made(report, memory.last_applied);
        report.decisions = decisions;
        self.report
    }
}

/// `b, as each of 2 more, waits since .. for a: ..`
fn wait_for(what: &str, children: &[ChildId]) -> String {
    let Some((first, more)) = children.split_first() else { return String::new() };
    match more.len() {
        0 => format!("{first} {what}"),
        more => format!("{first}, as each of {more} more, {what}"),
    }
}

fn gauges(report: &Report, memory: MemoryView<'_>) -> Gauges {
    let is_there = !memory.is_leaving && !matches!(report.end, End::Gone | End::Finalized);
    let contested = memory.last_applied.contested().filter(|it| is_reported(it.policy));
    let in_conflict = memory.foreign.keys().chain(contested.map(|it| &it.id));
    let in_conflict = in_conflict.filter(|_| is_there).map(|id| id.ty.clone()).collect();
    let altered = memory.last_applied.altered().filter(|_| is_there);
    let altered = altered.map(|(id, _)| id.ty.clone()).collect();
    let held = memory.deletion_guard.map_or(0, crate::plan::DeletionGuard::held);
    let held = if is_there || report.deletion_guard.is_some() { held } else { 0 };
    Gauges { in_conflict, altered, held }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::FailureKind,
        object::{K8sType, ObjectKey, Quoted, ResourceVersion, Uid},
        plan::{Flapping, LastApplied},
        reply::{ApiError, Refusal},
    };

    fn child(name: &str) -> ChildId {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        ChildId { ty, key: ObjectKey::namespaced("ns", name) }
    }

    fn failure(name: &str, code: u16) -> RequestFailure {
        let (request, refusal) = ("patch /x".to_owned(), Box::new(Refusal::answered(code)));
        RequestFailure::new(child(name).to_string(), ApiError::Refused { request, refusal })
    }

    fn refused(name: &str, code: u16) -> Fact {
        Fact::RequestFailed { child: Some(child(name)), failure: failure(name, code) }
    }

    fn foreign() -> Fact {
        Fact::Foreign(ForeignChild {
            id: child("foreign"),
            uid: Uid::new("u"),
            version: ResourceVersion::Number(1),
            owner: "it has no controller".to_owned(),
            is_adoptable: false,
            is_claimed: false,
        })
    }

    fn failed() -> Fact {
        let message = Quoted::new("no");
        Fact::Failed(Failure::Handler { message, permanent: false, retry_after: None })
    }

    fn folded(facts: &[Fact]) -> Report {
        let (last_applied, flapping, foreign) =
            (LastApplied::default(), Flapping::default(), <_>::default());
        let memory = MemoryView {
            last_applied: &last_applied,
            flapping: &flapping,
            deletion_guard: None,
            foreign: &foreign,
            has_deferred_wait: false,
            calms_in: None,
            is_leaving: false,
        };
        fold(facts, memory, &Redactor::Nothing)
    }

    #[test]
    fn a_failed_reconcile_overrides_requests_and_they_override_foreign_objects() {
        use FailureKind::{Conflict, HandlerFailed, WriteFailed};
        let of_status = || Fact::StatusFailed(failure("status", 422));
        for (facts, kind, beside) in [
            (vec![], None, 0),
            (vec![foreign()], Some(Conflict), 0),
            (vec![foreign(), refused("a", 500)], Some(WriteFailed), 0),
            (vec![foreign(), refused("a", 500), failed()], Some(HandlerFailed), 1),
            // A failed status write counts only if nothing else failed.
            (vec![of_status()], Some(WriteFailed), 0),
            (vec![foreign(), of_status()], Some(Conflict), 1),
            (vec![failed(), of_status()], Some(HandlerFailed), 1),
        ] {
            let report = folded(&facts);
            let seen = (report.failure().map(Failure::kind), report.beside.len());
            assert_eq!(seen, (kind, beside), "{facts:?}");
        }
    }

    #[test]
    fn equal_failures_are_merged() {
        let mut hinted = failure("a", 500);
        hinted.hint = "; try this".into();
        let hinted = Fact::RequestFailed { child: Some(child("a")), failure: hinted };
        let facts = [refused("a", 500), refused("b", 500), hinted, refused("a", 422)];
        let report = folded(&facts);
        let Some(Failure::Api(failures)) = report.failure() else { panic!("{report:?}") };
        let seen: Vec<_> =
            failures.iter().map(|it| (it.error.code(), it.what.clone(), &*it.hint)).collect();
        let name = |name| child(name).to_string();
        let (a, b) = (name("a"), name("b"));
        let hint = "; try this";
        let expected = [(Some(500), a.clone(), hint), (Some(500), b, ""), (Some(422), a, "")];
        assert_eq!(seen, expected);
    }

    #[test]
    fn writes_that_wait_for_a_throttled_request_are_counted_with_it() {
        let waits =
            |name| Fact::Waits { child: child(name), why: Wait::Throttled, is_put_off: true };
        let report = folded(&[refused("a", 500), refused("b", 429), waits("c"), waits("d")]);
        let Some(Failure::Api(failures)) = report.failure() else { panic!("{report:?}") };
        let held: Vec<_> = failures.iter().map(|failure| failure.held_back).collect();
        assert_eq!((held, report.waiting.len()), (vec![0, 2], 2));
    }
}
