//! From facts to a [`Report`]. What the progress of the reconcile says already is taken from there.

#![deny(clippy::wildcard_enum_match_arm)]

use super::{
    Gauges, MemoryView, News, Report, altered, decisions, deletions_held, shape::is_reported,
    waiting::Waiting,
};
use crate::{
    history::{AWAITS_APPROVAL, Drift, Verb, WriteRecord},
    journal::{
        Decorated, End, Fact, FailedBy, Failure, Journal, ParentConflict, Planned, RequestFailure,
        Unapproved, Wait, Written, foreign_message,
    },
    object::Redactor,
    operator::ChildState,
    plan::{ChildId, ForeignChild, WaitingReason},
};

pub(super) fn fold(journal: &Journal, memory: MemoryView<'_>, redactor: &Redactor) -> Report {
    let progress = journal.progress();
    let report = Report {
        end: progress.end,
        paused: progress.paused,
        began_paused: progress.began_paused.is_some(),
        slowed: progress.slowed,
        recreated: progress.recreated,
        calms_in: memory.calms_in,
        flapping: memory.flapping.condition(),
        holds_no_deletions: memory
            .deletion_guard
            .is_some_and(|deletion_guard| !deletion_guard.is_holding()),
        ..Report::default()
    };
    let mut fold = Fold { redactor, report, seen: Seen::default() };
    for fact in journal.facts() {
        fold.learn(fact);
    }
    fold.report.returned.judge(progress);
    fold.finish(progress.failed_by(), memory)
}

struct Fold<'a> {
    redactor: &'a Redactor,
    report: Report,
    seen: Seen,
}

/// What is judged when all facts are known.
#[derive(Default)]
struct Seen {
    failed: Option<Failure>,
    requests: Vec<RequestFailure>,
    foreign: Vec<ForeignChild>,
    /// The failed write of the status.
    of_status: Option<RequestFailure>,
    parent_held: Option<ParentConflict>,
    /// The index of the request that was throttled.
    throttled_by: Option<usize>,
    /// Whether a plan was carried out or held.
    is_planned: bool,
}

impl Fold<'_> {
    #[expect(clippy::match_same_arms, reason = "what does not matter here, by subject")]
    fn learn(&mut self, fact: &Fact) {
        let report = &mut self.report;
        match fact {
            Fact::Began(_) => report.has_begun = true,
            Fact::ParentWaits(why) => report.waits.push(Waiting::Parent(why.clone())),
            Fact::Resync(after) => report.resync = Some(*after),
            Fact::Answered { .. } => report.returned.has_answered = true,
            // They are returned again when it is known what is secret.
            Fact::EventsReturned { .. } if self.redactor.is_passing() => {}
            Fact::EventsReturned { of_error, events } => {
                report.returned.of_error = *of_error;
                let shown = events.iter().map(|event| event.shown(self.redactor));
                report.returned.events.extend(shown);
            }
            Fact::Failed(failure) => self.seen.failed = Some(failure.shown(self.redactor)),
            Fact::Planned(planned) => self.planned(planned),
            Fact::Judged { held: Some(held), .. } => self.deletions_held(held),
            Fact::UpToDate(child) => {
                report.unchanged += 1;
                self.state(child, ChildState::Synced, "");
            }
            Fact::Waits { child, why, .. } => self.waits(child, why.shown(self.redactor)),
            Fact::RolledOut(rollout) => report.rollouts.push(rollout.clone()),
            Fact::StageDue(after) => {
                report.stage_due = Some(report.stage_due.map_or(*after, |known| known.min(*after)));
            }
            Fact::Written(written) => self.written(written),
            Fact::WroteNothing { paths, settled } => {
                report.unchanged += 1;
                report.noop_writes.push(record(&settled.id, Verb::Unchanged, paths.clone()));
            }
            Fact::RequestFailed { child, failure } => self.request_failed(child.as_ref(), failure),
            Fact::Foreign(child) => {
                self.state(&child.id, ChildState::Conflict, &foreign_message(child));
                self.seen.foreign.push(child.clone());
            }
            Fact::Unwatched => report.unwatched += 1,
            Fact::Flapping(why, message) => {
                report.news.push(News::Flapping(*why, message.clone()));
            }
            Fact::StatusBegan => report.has_begun_status = true,
            Fact::StatusWritten => {
                report.wrote_status = true;
                report.status_is_due = false;
            }
            Fact::StatusDue => report.status_is_due = true,
            Fact::ReadyReturned => report.is_ready_returned = true,
            Fact::NotReady(why) => report.not_ready = Some(why.shown(self.redactor)),
            Fact::StatusFailed(failure) => {
                self.seen.of_status = Some(failure.shown(self.redactor));
            }
            Fact::StatusRefused { shows_conditions, failure } => {
                let failure = failure.shown(self.redactor);
                let shows_conditions = *shows_conditions;
                report.news.push(News::StatusRefused { shows_conditions, failure });
            }
            Fact::Undeclared(fields) => report.undeclared.extend(fields.iter().cloned()),
            Fact::Overruled(what) => report.overruled.push(what),
            Fact::ParentHeld(conflict) => match &mut self.seen.parent_held {
                Some(known) => known.held.extend(conflict.held.iter().cloned()),
                None => self.seen.parent_held = Some(conflict.clone()),
            },
            Fact::Decorated(Decorated { parent, paths, .. }) => {
                report.writes.push(record(parent, Verb::Updated, paths.clone()));
            }
            Fact::Scaled { parent, replicas } => {
                let paths = vec![format!(".spec.replicas = {replicas}")];
                report.writes.push(record(parent, Verb::Updated, paths));
            }
            Fact::WritesEnded { unknown, .. } => {
                self.seen.is_planned = true;
                report.news.push(News::WritesEnded { unknown: unknown.clone() });
            }
            Fact::WritesHeld(_) => self.seen.is_planned = true,
            // The progress has them.
            Fact::Parent(_) | Fact::BeganPaused(_) | Fact::Paused(_) | Fact::PauseKnown(..) => {}
            Fact::Repeated(_) | Fact::FinalizersDelayed(_) | Fact::Slowed { .. } => {}
            // They change what is remembered or counted.
            Fact::FinalizersChanged | Fact::ChildrenNotRetried | Fact::DecorationDelayed(_) => {}
            Fact::TerminatingChildren { blocked, .. } => report.blocked.clone_from(blocked),
            Fact::Judged { held: None, .. } => {}
            Fact::DryRunUnchanged(_) | Fact::DryRunDiffers(_) | Fact::WaitedFor(_) => {}
            Fact::MayBeDeleted { .. } | Fact::NotForeign(_) | Fact::ConflictFound(_) => {}
            Fact::Contested(_) | Fact::Drifted(..) | Fact::RivalFound { .. } => {}
            Fact::DecorationHeld { .. } | Fact::DecorationFree { .. } => {}
            Fact::StatusUpToDate { .. } | Fact::StatusSent { .. } => {}
        }
    }

    fn planned(&mut self, planned: &Planned) {
        let Planned { up_to_date, replacing, finished_jobs, children, .. } = planned;
        self.report.finished_jobs = Some(finished_jobs.clone());
        self.report.unchanged = *up_to_date;
        self.report.replacing.clone_from(replacing);
        self.report.planned.clone_from(children);
    }

    fn deletions_held(&mut self, unapproved: &Unapproved) {
        let Unapproved { held, children, .. } = unapproved;
        for child in children {
            self.state(child, ChildState::Held, AWAITS_APPROVAL);
        }
        let (report, message) = (&mut self.report, unapproved.to_string());
        report.news.extend(held.is_new.then(|| News::DeletionsHeld(message.clone())));
        report.deletions_held = Some(deletions_held::condition(held.why, &message));
        report.waits.push(Waiting::Deletions(message));
        report.unapproved = Some(Box::new(unapproved.clone()));
    }

    fn waits(&mut self, child: &ChildId, why: Wait) {
        self.state(child, why.state(), &why.to_string());
        if let Wait::Planned(WaitingReason::OnDelete { .. }) = why {
            return self.report.held.push(format!("{child}: {why}"));
        }
        if let Wait::Throttled = why {
            let Seen { throttled_by, requests, .. } = &mut self.seen;
            if let Some(failure) = throttled_by.and_then(|at| requests.get_mut(at)) {
                failure.held_back += 1;
            }
        }
        self.report.waits.push(Waiting::Child(child.clone(), why));
    }

    fn written(&mut self, written: &Written) {
        let Written { child, verb, paths, rewrite, left: _ } = written;
        let drift = rewrite.as_ref().filter(|_| written.is_drift()).map(|rewrite| {
            let manager = rewrite.changed_by.clone();
            Box::new(Drift { manager, from: rewrite.from.clone(), to: rewrite.to.clone() })
        });
        let adopted = (*verb == Verb::Adopted).then(|| News::Adopted(child.clone()));
        self.report.news.extend(adopted);
        self.report.writes.push(WriteRecord { drift, ..record(child, *verb, paths.clone()) });
    }

    /// Merges equal failures.
    fn request_failed(&mut self, child: Option<&ChildId>, failure: &RequestFailure) {
        let failure = failure.shown(self.redactor);
        if let Some(child) = child {
            self.state(child, ChildState::Failed, &failure.message.to_string());
            self.report.refused.push(child.clone());
        }
        let is_same = |known: &RequestFailure| {
            known.what == failure.what && known.error.is_same_as(&failure.error)
        };
        let Seen { requests, throttled_by, .. } = &mut self.seen;
        let known = requests.iter().position(is_same);
        if failure.is_throttled() {
            *throttled_by = Some(known.unwrap_or(requests.len()));
        }
        match known {
            Some(known) if !failure.hint.is_empty() => requests[known].hint = failure.hint,
            Some(_) => {}
            None => requests.push(failure),
        }
    }

    fn state(&mut self, child: &ChildId, state: ChildState, why: &str) {
        self.report.states.insert(child.clone(), (state, why.to_owned()));
    }

    fn finish(self, failed_by: Option<FailedBy>, memory: MemoryView<'_>) -> Report {
        let is_planned = self.seen.is_planned;
        let mut report = self.with_failure(failed_by);
        let contested = || memory.last_applied.contested();
        report.is_contested = contested().any(|known| is_reported(known.policy));
        report.recreates_first = report.recreated > 0 && memory.has_deferred_wait;
        report.gauges = gauges(&report, memory);
        if is_planned {
            report.held.extend(contested().map(ToString::to_string));
            report.held.extend(altered::texts(memory.last_applied));
        }
        report.decisions = decisions::made(&report, memory.last_applied);
        report
    }

    /// A failed status write fails the reconcile, unless that has failed already.
    fn with_failure(self, failed_by: Option<FailedBy>) -> Report {
        let Self { mut report, seen, redactor: _ } = self;
        let Seen { failed, requests, mut foreign, of_status, parent_held, .. } = seen;
        // They are found in any order, and the status must not change with it.
        foreign.sort_by(|one, other| one.id.cmp(&other.id));
        report.failure = match failed_by {
            None | Some(FailedBy::ParentHeld) if of_status.is_some() => {
                Some(Failure::Api(of_status.into_iter().collect()))
            }
            None => None,
            Some(by) => {
                report.beside.extend(of_status);
                match by {
                    FailedBy::Whole => {
                        report.beside.extend(requests);
                        failed
                    }
                    FailedBy::Requests => Some(Failure::Api(requests)),
                    FailedBy::Foreign => Some(Failure::Foreign(foreign)),
                    FailedBy::ParentHeld => parent_held.map(Failure::ParentConflict),
                }
            }
        };
        report
    }
}

fn record(child: &ChildId, verb: Verb, paths: Vec<String>) -> WriteRecord {
    WriteRecord { child: child.to_string(), verb, paths, drift: None }
}

fn gauges(report: &Report, memory: MemoryView<'_>) -> Gauges {
    let is_there = !memory.is_leaving && !matches!(report.end, End::Gone | End::Finalized);
    let contested = memory.last_applied.contested().filter(|it| is_reported(it.policy));
    let in_conflict = memory.foreign.keys().chain(contested.map(|it| &it.id));
    let in_conflict = in_conflict.filter(|_| is_there).map(|id| id.ty.clone()).collect();
    let altered = memory.last_applied.altered().filter(|_| is_there);
    let altered = altered.map(|(id, _)| id.ty.clone()).collect();
    let held = memory.deletion_guard.map_or(0, crate::plan::DeletionGuard::held);
    let held = if is_there || report.deletions_held.is_some() { held } else { 0 };
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

    fn folded(facts: Vec<Fact>) -> Report {
        let mut journal = Journal::default();
        for fact in facts {
            journal.append(fact);
        }
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
        fold(&journal, memory, &Redactor::Nothing)
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
            let what = format!("{facts:?}");
            let report = folded(facts);
            let seen = (report.failure().map(Failure::kind), report.beside.len());
            assert_eq!(seen, (kind, beside), "{what}");
        }
    }

    #[test]
    fn equal_failures_are_merged() {
        let mut hinted = failure("a", 500);
        hinted.hint = "; try this".into();
        let hinted = Fact::RequestFailed { child: Some(child("a")), failure: hinted };
        let report = folded(vec![refused("a", 500), refused("b", 500), hinted, refused("a", 422)]);
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
        let report = folded(vec![refused("a", 500), refused("b", 429), waits("c"), waits("d")]);
        let Some(Failure::Api(failures)) = report.failure() else { panic!("{report:?}") };
        let held: Vec<_> = failures.iter().map(|failure| failure.held_back).collect();
        assert_eq!((held, report.waits.texts().len()), (vec![0, 2], 2));
    }
}
