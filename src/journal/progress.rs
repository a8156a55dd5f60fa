//! How a reconcile continues, derived from its facts.

#![deny(clippy::wildcard_enum_match_arm)]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{End, Fact, Failure, Held, Left, Pause, PausedBy, Wait, Written};
use crate::{
    history::Verb,
    object::K8sType,
    operator,
    plan::{ChildId, Rewrite, WaitingReason},
};

/// What made a reconcile fail. An earlier one overrides those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedBy {
    /// The reconcile as a whole.
    Whole,
    Requests,
    /// Objects of others with the names of children.
    Foreign,
    /// Others, who own fields of the parent.
    ParentHeld,
}

/// How a reconcile continues, derived from its facts. Only the journal changes it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Progress {
    pub(crate) end: End,
    pub(crate) began_paused: Option<PausedBy>,
    /// What is paused; the last fact counts.
    pub(crate) paused: Option<Pause>,
    known_pause: Option<(PausedBy, Arc<operator::Pause>)>,
    /// Whether something waits.
    pub(crate) waits: bool,
    put_off: usize,
    /// Whether a child waits for others to be ready.
    pub(crate) is_behind: bool,
    writes: usize,
    pub(crate) recreated: usize,
    pub(crate) deleted: usize,
    pub(crate) is_throttled: bool,
    pub(crate) failed_requests: usize,
    /// Those of them that may succeed on retry.
    passing: usize,
    is_foreign: bool,
    /// Whether others own fields of the parent.
    is_parent_held: bool,
    /// The failure of the whole reconcile, if any.
    failed: Option<Severity>,
    /// Whether the facts contain texts of handlers or servers.
    pub(crate) quotes_others: bool,
    /// How often a repeated write was too frequent.
    pub(crate) slowed: Option<u32>,
    /// The children whose write the server refused.
    refused: BTreeSet<ChildId>,
    /// The types of the created children.
    pub(crate) created: BTreeSet<K8sType>,
    /// How children that left the cache are written again.
    pub(crate) drifted: BTreeMap<ChildId, Rewrite>,
    /// The children that were written again.
    pub(crate) rewritten: BTreeMap<ChildId, (Rewrite, Verb)>,
}

#[derive(Debug, Clone, Copy)]
struct Severity {
    is_stalled: bool,
    is_for_good: bool,
}

impl Progress {
    pub(crate) fn is_alive(&self) -> bool {
        self.end == End::Alive
    }

    pub(crate) fn held_writes(&self) -> usize {
        match self.paused {
            Some(Pause { held: Held::Writes(held), .. }) => held,
            Some(_) | None => 0,
        }
    }

    /// What is known of the pause.
    pub(crate) fn known_pause(&self) -> Option<&Arc<operator::Pause>> {
        let by = self.paused?.by;
        self.known_pause.as_ref().filter(|(of, _)| *of == by).map(|(_, pause)| pause)
    }

    pub(crate) fn has_written(&self) -> bool {
        self.writes > 0
    }

    pub(crate) fn has_passing_failures(&self) -> bool {
        self.passing > 0
    }

    /// Whether a desired child may be missing: its write failed or was delayed, or a foreign object has its
    /// name.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.put_off > 0 || self.failed_requests > 0 || self.is_foreign
    }

    pub(crate) fn failed_by(&self) -> Option<FailedBy> {
        match self {
            Self { failed: Some(_), .. } => Some(FailedBy::Whole),
            Self { failed_requests: 1.., .. } => Some(FailedBy::Requests),
            Self { is_foreign: true, .. } => Some(FailedBy::Foreign),
            Self { is_parent_held: true, .. } => Some(FailedBy::ParentHeld),
            Self { .. } => None,
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed_by().is_some()
    }

    pub(crate) fn is_refused(&self, child: &ChildId) -> bool {
        self.refused.contains(child)
    }

    /// Whether the failure may be transient.
    pub(crate) fn has_failed_for_now(&self) -> bool {
        match self.failed {
            Some(failed) => !failed.is_stalled,
            None => self.passing > 0,
        }
    }

    /// Whether the failure is not retried until the parent changes.
    pub(crate) fn has_failed_for_good(&self) -> bool {
        self.failed.is_some_and(|failed| failed.is_for_good)
    }

    /// Whether everything is up to date as far as the reconcile knows, so that the readiness counts.
    pub(crate) fn is_up_to_date(&self) -> bool {
        !self.has_written() && !self.has_failed() && !self.waits
    }

    /// Whether the status is due: nothing is left to write, or writing failed.
    pub(crate) fn has_settled(&self) -> bool {
        !self.has_written() || self.has_failed() || self.slowed.is_some()
    }

    #[expect(clippy::match_same_arms, reason = "what does not matter here, by subject")]
    pub(super) fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::Parent(end) => self.end = *end,
            Fact::BeganPaused(by) => self.began_paused = Some(*by),
            Fact::Paused(pause) => self.paused = Some(*pause),
            Fact::PauseKnown(by, pause) => {
                self.known_pause = Some((*by, pause.clone()));
                self.quotes_others |= pause.by.is_some() || pause.reason.is_some();
            }
            Fact::ParentWaits(_) => self.waits = true,
            Fact::Judged { held, .. } => self.waits |= held.is_some(),
            Fact::Failed(failure) => self.fail(failure),
            Fact::TerminatingChildren { expected, .. } => self.put_off += expected,
            Fact::Waits { why, is_put_off, .. } => self.wait(why, *is_put_off),
            Fact::Written(written) => self.write(written),
            Fact::Drifted(child, rewrite) => {
                self.drifted.insert(child.clone(), rewrite.clone());
            }
            Fact::Decorated(_) | Fact::Scaled { .. } => self.writes += 1,
            Fact::MayBeDeleted { is_final, .. } => self.deleted += usize::from(*is_final),
            Fact::RequestFailed { child, failure } => {
                let refused = child.as_ref().filter(|_| failure.is_refusal());
                self.refused.extend(refused.cloned());
                self.failed_requests += 1;
                self.passing += usize::from(!failure.is_permanent());
                self.is_throttled |= failure.is_throttled();
                self.quotes_others = true;
            }
            Fact::StatusFailed(_) | Fact::NotReady(_) | Fact::EventsReturned { .. } => {
                self.quotes_others = true;
            }
            Fact::Foreign(_) => self.is_foreign = true,
            Fact::ParentHeld(_) => self.is_parent_held = true,
            Fact::Repeated(repeat) => self.slow(repeat.times),
            Fact::FinalizersDelayed(times) | Fact::DecorationDelayed(times) => self.slow(*times),
            Fact::Slowed { now, .. } => self.slowed = *now,
            Fact::Began(_) | Fact::FinalizersChanged | Fact::ChildrenNotRetried => {}
            Fact::Answered { .. } | Fact::Resync(_) => {}
            Fact::Planned(_) | Fact::WritesEnded { .. } | Fact::WritesHeld(_) => {}
            Fact::UpToDate(_) | Fact::DryRunUnchanged(_) | Fact::DryRunDiffers(_) => {}
            Fact::RolledOut(_) | Fact::WaitedFor(_) | Fact::StageDue(_) => {}
            Fact::WroteNothing { .. } | Fact::NotForeign(_) | Fact::Unwatched => {}
            Fact::ConflictFound(_) | Fact::Contested(_) => {}
            Fact::RivalFound { .. } | Fact::Flapping(..) => {}
            Fact::DecorationHeld { .. } | Fact::DecorationFree { .. } => {}
            Fact::ReadyReturned | Fact::StatusUpToDate { .. } | Fact::StatusSent { .. } => {}
            Fact::StatusWritten | Fact::StatusDue | Fact::StatusRefused { .. } => {}
            Fact::StatusBegan | Fact::Undeclared(_) | Fact::Overruled(_) => {}
        }
    }

    fn write(&mut self, Written { child, verb, rewrite, left, .. }: &Written) {
        self.writes += 1;
        self.recreated += usize::from(matches!(left, Left::ToRecreate { .. }));
        self.deleted += usize::from(matches!(left, Left::Gone));
        self.created.extend((*verb == Verb::Created).then(|| child.ty.clone()));
        let rewrite = rewrite.clone().map(|rewrite| (child.clone(), (rewrite, *verb)));
        self.rewritten.extend(rewrite);
    }

    fn slow(&mut self, times: u32) {
        self.slowed = self.slowed.max((times > 0).then_some(times));
    }

    fn fail(&mut self, failure: &Failure) {
        let (is_stalled, is_for_good) = (failure.is_stalled(), failure.is_for_good());
        self.failed = Some(Severity { is_stalled, is_for_good });
        self.quotes_others |= failure.quotes_others();
    }

    fn wait(&mut self, why: &Wait, is_put_off: bool) {
        self.put_off += usize::from(is_put_off);
        self.waits |= !matches!(why, Wait::Planned(WaitingReason::OnDelete { .. }));
        self.is_behind |= matches!(why, Wait::Behind(_));
        self.quotes_others |= why.quotes_others();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        history::Verb,
        journal::RequestFailure,
        object::{K8sType, ObjectKey, Quoted},
        plan::ChildId,
        reply::{ApiError, Refusal},
    };

    fn child() -> ChildId {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        ChildId { ty, key: ObjectKey::namespaced("ns", "a") }
    }

    fn refused(code: u16) -> Fact {
        let refusal = Box::new(Refusal::answered(code));
        let error = ApiError::Refused { request: "patch /x".to_owned(), refusal };
        let failure = RequestFailure::new("a child".to_owned(), error);
        Fact::RequestFailed { child: Some(child()), failure }
    }

    fn failed(permanent: bool) -> Fact {
        let message = Quoted::new("no");
        Fact::Failed(Failure::Handler { message, permanent, retry_after: None })
    }

    fn written(left: Left) -> Fact {
        let (paths, rewrite) = <_>::default();
        Fact::Written(Written { child: child(), verb: Verb::Deleted, paths, rewrite, left })
    }

    fn waits(why: Wait) -> Fact {
        Fact::Waits { child: child(), why, is_put_off: true }
    }

    fn after(facts: &[Fact]) -> Progress {
        let mut progress = Progress::default();
        for fact in facts {
            progress.learn(fact);
        }
        progress
    }

    #[test]
    fn a_failure_is_transient_if_any_part_of_it_is() {
        for (facts, has_failed, for_now, for_good) in [
            (vec![], false, false, false),
            (vec![refused(422)], true, false, false),
            (vec![refused(422), refused(500)], true, true, false),
            (vec![failed(false)], true, true, false),
            (vec![failed(true)], true, false, true),
            // The failure of the whole reconcile overrides single requests.
            (vec![refused(500), failed(true)], true, false, true),
            (vec![refused(422), failed(false)], true, true, false),
            (
                vec![Fact::Failed(Failure::HandlerTimeout { after: Duration::ZERO, hangs: true })],
                true,
                true,
                false,
            ),
            (vec![Fact::Failed(Failure::Refused(Vec::new()))], true, false, true),
        ] {
            let progress = after(&facts);
            let seen = (
                progress.has_failed(),
                progress.has_failed_for_now(),
                progress.has_failed_for_good(),
            );
            assert_eq!(seen, (has_failed, for_now, for_good), "{facts:?}");
        }
    }

    #[test]
    fn writes_delay_the_status_unless_something_failed_or_is_slowed() {
        let gone = || written(Left::Gone);
        for (facts, has_settled) in [
            (vec![], true),
            (vec![gone()], false),
            (vec![gone(), refused(500)], true),
            (vec![gone(), Fact::Slowed { now: Some(3), deferred: None }], true),
            // A deferred wait begins when the child exists again.
            (vec![gone(), Fact::Slowed { now: None, deferred: Some(3) }], false),
        ] {
            assert_eq!(after(&facts).has_settled(), has_settled, "{facts:?}");
        }
    }

    #[test]
    fn recreations_are_not_counted_as_deletions() {
        let to_recreate = || written(Left::ToRecreate { immutable: None });
        let may_be = |is_final| Fact::MayBeDeleted { child: child(), is_final };
        for (facts, recreated, deleted) in [
            (vec![written(Left::Gone)], 0, 1),
            (vec![to_recreate()], 1, 0),
            // An unanswered deletion counts as one.
            (vec![may_be(true)], 0, 1),
            (vec![may_be(false)], 0, 0),
            (vec![to_recreate(), written(Left::Gone), may_be(true)], 1, 2),
        ] {
            let progress = after(&facts);
            assert_eq!((progress.recreated, progress.deleted), (recreated, deleted), "{facts:?}");
        }
    }

    #[test]
    fn an_on_delete_child_does_not_make_its_parent_wait() {
        let on_delete = WaitingReason::OnDelete { paths: Vec::new() };
        for (why, is_waited_for) in [
            (Wait::Planned(on_delete), false),
            (Wait::Planned(WaitingReason::TypeNotSynced), true),
            (Wait::Throttled, true),
            (Wait::Writes, true),
        ] {
            let progress = after(&[waits(why.clone())]);
            assert_eq!((progress.waits, progress.is_incomplete()), (is_waited_for, true), "{why}");
        }
    }

    #[test]
    fn the_last_fact_about_a_pause_counts() {
        let (by, began) = (PausedBy::Operator, Fact::BeganPaused(PausedBy::Operator));
        let writes = |count| Fact::Paused(Pause { by, held: Held::Writes(count) });
        let undecided = Fact::Paused(Pause { by, held: Held::Undecided });
        let progress = after(&[began, undecided, writes(1), writes(2)]);
        assert_eq!((progress.began_paused, progress.held_writes()), (Some(by), 2));
        assert_eq!(
            after(&[writes(2), Fact::Paused(Pause { by, held: Held::Finalizer })]).held_writes(),
            0
        );
    }
}
