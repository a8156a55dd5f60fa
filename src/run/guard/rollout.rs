//! Holds changes of children back while too many of their type are unavailable.

use std::collections::BTreeSet;

use crate::{
    journal::{Behind, Fact, Failure, RolledOut, RolloutStopped, Wait},
    object::{Quoted, ReadyState},
    plan::{ChildId, Judgement, NotYet, Rollout, RolloutChild, Step},
    run::module_view::View,
};

/// The rollouts of a plan, and how their children are now.
pub(in crate::run) struct Rollouts<'a>(Vec<(&'a Rollout, Judgement)>);

impl<'a> Rollouts<'a> {
    /// `begun` are the children whose change has begun in this reconcile; the change of a child that is behind
    /// waits for earlier children.
    pub(in crate::run) fn now(
        rollouts: &'a [Rollout],
        begun: &BTreeSet<ChildId>,
        is_behind: impl Fn(&ChildId) -> bool,
        view: &View<'_>,
    ) -> Self {
        let of = |id: &ChildId| {
            let child = rollout_child(id, begun, view);
            let may_wait = !child.is_updated && !child.state.is_good();
            RolloutChild { is_behind: may_wait && is_behind(id), ..child }
        };
        let judged = |rollout: &'a Rollout| {
            (rollout, rollout.judge(rollout.children.iter().map(of).collect()))
        };
        Self(rollouts.iter().map(judged).collect())
    }

    /// Whether a step may be carried out.
    pub(in crate::run) fn admit(&self, step: &Step) -> bool {
        self.of(step).is_none_or(|(_, judgement, index)| judgement.admits(index).is_ok())
    }

    /// Why a step waits, if it does.
    pub(in crate::run) fn wait(&self, step: &Step, view: &View<'_>) -> Option<Wait> {
        let (rollout, judgement, index) = self.of(step)?;
        match judgement.admits(index) {
            Ok(()) => None,
            Err(NotYet::Stopped(_)) => Some(Wait::RolloutStopped),
            Err(NotYet::Behind(other)) => {
                let child = &rollout.children[other];
                let why = if judgement.all[other].is_changing {
                    Quoted::new("its change is not accepted yet")
                } else {
                    view.why_not_ready(child)
                };
                let (child, since) = (child.clone(), None);
                Some(Wait::Rollout(Box::new(Behind { child, why, since })))
            }
        }
    }

    /// How far the rollouts are, and whether they have stopped.
    pub(in crate::run) fn facts(&self, view: &View<'_>) -> Vec<Fact> {
        let of = |(rollout, judgement): &(&Rollout, Judgement)| {
            let all = &judgement.all;
            let (ty, children) = (rollout.ty.clone(), all.len());
            let updated = all.iter().filter(|it| it.is_updated).count();
            let ready = all.iter().filter(|it| it.is_updated && it.state.is_good()).count();
            // A request that failed is retried sooner.
            let stopped = judgement.stopped.filter(|_| view.progress.failed_requests == 0);
            let stopped = stopped.map(|at| {
                let (ty, child) = (ty.clone(), rollout.children[at].clone());
                let why = view.why_not_ready(&child);
                let stopped = RolloutStopped { ty, updated, children, child, why };
                Fact::Failed(Failure::RolloutStopped(Box::new(stopped)))
            });
            let is_stopped = judgement.stopped.is_some();
            let refused = all.iter().filter(|it| it.is_refused).count();
            let far = RolledOut { ty, children, updated, ready, refused, is_stopped };
            let far = Fact::RolledOut(far);
            [far].into_iter().chain(stopped)
        };
        self.0.iter().flat_map(of).collect()
    }

    /// The rollout of a step that changes a child. A child that is missing is created at once.
    fn of(&self, step: &Step) -> Option<(&'a Rollout, &Judgement, usize)> {
        let is_change = match step {
            Step::Create(_) => false,
            Step::Update(_) => true,
            Step::Delete(deletion) => deletion.instead_of().is_some(),
        };
        let mut of_type = self.0.iter().filter(|(it, _)| is_change && it.ty == step.id().ty);
        of_type.find_map(|(rollout, judgement)| {
            Some((*rollout, judgement, rollout.index_of(step.id())?))
        })
    }
}

fn rollout_child(child: &ChildId, begun: &BTreeSet<ChildId>, view: &View<'_>) -> RolloutChild {
    let object = view.own_child(child);
    let state = object.map(|object| view.settings.config().ready_state(&object));
    let state = state.unwrap_or(ReadyState::Missing);
    let is_updated = view.memory.last_applied().is_known(child);
    let is_refused = !is_updated && view.progress.is_refused(child);
    let is_changing = !is_updated && !is_refused && begun.contains(child);
    RolloutChild { is_updated, is_changing, is_refused, is_behind: false, state }
}
