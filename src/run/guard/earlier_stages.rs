//! Holds back the writes of children that come later in the order. Earlier children must be ready first.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    journal::{Behind, Fact, Failure, StageTimeout, Wait},
    object::{Object, Quoted},
    operator::ConflictPolicy,
    plan::{ChildId, FAILED_JOB, FinishedJobs, Order, Step, WaitingChild, WaitingReason},
    run::module_view::View,
};

/// What decides whether the turn of a child has come.
#[derive(Clone, Copy)]
pub(in crate::run) struct Turns<'a> {
    pub(in crate::run) order: &'a Order,
    /// The desired children whose readiness does not count.
    pub(in crate::run) uncounted: &'a BTreeSet<ChildId>,
    pub(in crate::run) finished_jobs: &'a FinishedJobs,
    /// Those that cannot be changed now.
    pub(in crate::run) waiting: &'a [WaitingChild],
}

impl<'a> Turns<'a> {
    /// The first step whose turn has come and that `is_free` otherwise. The cache is read each time: a child may
    /// have become unready.
    pub(in crate::run) fn first<'s>(
        self,
        steps: impl IntoIterator<Item = &'s Step>,
        is_free: impl Fn(&Step) -> bool,
        view: &View<'_>,
    ) -> Option<usize> {
        let ready = self
            .order
            .stages()
            .take_while(|stage| stage.iter().all(|child| self.not_ready(child, view).is_none()));
        // Only as many stages as are asked for.
        let (mut ready, mut passed) = (ready, 0);
        steps.into_iter().position(|step| {
            if step.final_deletion().is_some() {
                return true;
            }
            let stage = self.order.stage_of(step.id());
            while passed < stage && ready.next().is_some() {
                passed += 1;
            }
            let mut named = self.order.named_by(step.id()).iter();
            passed >= stage
                && is_free(step)
                && named.all(|child| self.not_ready(child, view).is_none())
        })
    }

    /// What a step waits for, if it does: what it names, or else the earliest stage that is not ready.
    pub(in crate::run) fn wait(self, step: &Step, view: &View<'_>) -> Option<Wait> {
        self.before(step.id()).find_map(|child| {
            let why = self.not_ready(child, view)?;
            let since = view.memory.waited_since(self.order.stage_of(child), view.now).wall;
            let (child, since) = (child.clone(), Some(since));
            Some(Wait::Behind(Box::new(Behind { child, why, since })))
        })
    }

    /// Which stages are waited for, and when they are late.
    pub(in crate::run) fn waited_for<'b>(
        self,
        waits: impl IntoIterator<Item = &'b Wait>,
        view: &View<'_>,
    ) -> Vec<Fact> {
        let mut stages = BTreeMap::new();
        for wait in waits {
            if let Wait::Behind(behind) = wait {
                stages.entry(self.order.stage_of(&behind.child)).or_insert(behind);
            }
        }
        let all = Fact::WaitedFor(stages.keys().copied().collect());
        let due = stages.into_iter().filter_map(|(stage, behind)| self.due(stage, behind, view));
        [all].into_iter().chain(due).collect()
    }

    /// Whether a child waits for others.
    pub(in crate::run) fn is_behind(self, child: &ChildId, view: &View<'_>) -> bool {
        self.before(child).any(|before| self.not_ready(before, view).is_some())
    }

    fn before(self, child: &ChildId) -> impl Iterator<Item = &'a ChildId> {
        self.order.named_by(child).iter().chain(self.order.before(child))
    }

    /// When a stage is late, or that it is.
    fn due(self, stage: usize, behind: &Behind, view: &View<'_>) -> Option<Fact> {
        let within = self.order.timeout(stage)?;
        // A request that failed is the reason, and its retry must not wait.
        if view.progress.failed_requests > 0 {
            return None;
        }
        let since = view.memory.waited_since(stage, view.now).monotonic;
        let left = within.saturating_sub(view.now.monotonic.saturating_duration_since(since));
        if !left.is_zero() {
            return Some(Fact::StageDue(left));
        }
        let Behind { child, why, since: _ } = behind.clone();
        let late = StageTimeout { stage: stage + 1, within, child, why };
        Some(Fact::Failed(Failure::StageTimeout(Box::new(late))))
    }

    /// Why a child is not ready for those after it.
    fn not_ready(self, child: &ChildId, view: &View<'_>) -> Option<Quoted> {
        let Some(object) = view.own_child(child) else { return self.missing(child, view) };
        if !self.is_settled(&object, view) {
            return Some(Quoted::new("it is not up to date"));
        }
        let is_ready = || view.settings.config().ready_state(&object).is_good();
        let counts = !self.uncounted.contains(child);
        (counts && !is_ready()).then(|| view.why_not_ready(child))
    }

    /// Why a missing child is not ready. A finished Job that its TTL has removed may be ready.
    fn missing(self, child: &ChildId, view: &View<'_>) -> Option<Quoted> {
        match self.finished_jobs.get(&child.ty, &child.key) {
            Some(job) if job.has_succeeded || self.uncounted.contains(child) => None,
            Some(_) => Some(Quoted::new(FAILED_JOB)),
            None => Some(view.why_not_ready(child)),
        }
    }

    /// Whether nothing is left to write. Fields of other managers and children with `on_delete` do not count. A child that others
    /// have changed since the plan was made is not.
    fn is_settled(self, object: &Object, view: &View<'_>) -> bool {
        let (child, known) = (&ChildId::of(object), view.memory.last_applied());
        let yields = |it: &crate::plan::Contested| it.policy == ConflictPolicy::Yield;
        let stays =
            |it: &WaitingChild| it.id == *child && matches!(it.why, WaitingReason::OnDelete { .. });
        known.is_up_to_date(object, view.settings.name())
            || known.contested_of(child).is_some_and(yields)
            || self.waiting.iter().any(stays)
    }
}
