//! Deletions, one by one after the writes, and the end of both.

use std::collections::{BTreeSet, VecDeque};

use super::step::ChildStep;
use crate::{
    history::ReconcileStep,
    journal::{Fact, Wait},
    operator::ConflictPolicy,
    plan::{ChildId, Deletion, WaitingReason},
    run::{
        Answer, Effect, child, drift,
        guard::rollout::Rollouts,
        reconcile::Reconcile,
        stage::{CarryOut, Stage},
        turn::waits,
    },
};

impl Reconcile {
    /// Deletes, unless the write of a desired child failed: it may replace the child to delete. A child that
    /// is recreated replaces itself, and waits only while the server has transient failures. A refused
    /// deletion does not stop the others.
    pub(super) fn delete_all(&mut self, plan: Box<CarryOut>, deletions: Vec<Deletion>) -> Stage {
        let has_failures = self.journal.progress().has_passing_failures();
        let is_incomplete = self.is_incomplete();
        let mut due = VecDeque::new();
        for deletion in deletions {
            if !self.is_alive() {
                break;
            }
            let waits_for_writes =
                has_failures || (is_incomplete && deletion.instead_of().is_none());
            if let Some(facts) = child::is_held(&deletion, &self.view()) {
                self.note(facts);
            } else if self.is_unsynced(&deletion.id) {
                // The type became unsynced after the plan was made.
                let why = Wait::Planned(WaitingReason::TypeNotSynced);
                self.note([waits(&deletion.id, why)]);
            } else if waits_for_writes {
                self.note([waits(&deletion.id, Wait::Writes)]);
            } else {
                due.push_back(deletion);
            }
        }
        self.delete_next(plan, due)
    }

    fn is_unsynced(&self, child: &ChildId) -> bool {
        self.snapshot.doubts.unsynced.covers(child)
    }

    /// Whether a desired child may be missing or is not written.
    pub(in crate::run) fn is_incomplete(&self) -> bool {
        self.journal.progress().is_incomplete()
            || self.memory.last_applied().contested().any(|it| it.policy == ConflictPolicy::Report)
    }

    fn delete_next(&mut self, plan: Box<CarryOut>, mut due: VecDeque<Deletion>) -> Stage {
        while self.is_alive() {
            let Some(deletion) = due.pop_front() else { break };
            if let Some(why) = self.deletion_waits(&plan, &deletion) {
                self.note([waits(&deletion.id, why)]);
                continue;
            }
            match self.begin_child(child::Task::Delete(deletion, 1)) {
                ChildStep::Asked(_, state) => return Stage::Deleting(plan, state, due),
                ChildStep::Ended { deletion, left: _ } => self.deletion_ended(deletion.as_ref()),
            }
        }
        self.end_writes(*plan)
    }

    /// Why a child is not deleted now.
    fn deletion_waits(&self, plan: &CarryOut, deletion: &Deletion) -> Option<Wait> {
        if self.is_unsynced(&deletion.id) {
            return Some(Wait::Planned(WaitingReason::TypeNotSynced));
        }
        if self.journal.progress().is_throttled {
            return Some(Wait::Throttled);
        }
        let before = || self.leaves_before(plan, deletion).map(Wait::BehindDeletion);
        self.recreation_waits(plan, deletion).or_else(before)
    }

    pub(in crate::run) fn deletion_answered(
        &mut self,
        plan: Box<CarryOut>,
        state: child::AwaitedChild,
        left: VecDeque<Deletion>,
        answer: Answer,
    ) -> Stage {
        match self.child_answered(state, answer) {
            ChildStep::Asked(_, state) => return Stage::Deleting(plan, state, left),
            ChildStep::Ended { deletion, left: _ } => self.deletion_ended(deletion.as_ref()),
        }
        self.delete_next(plan, left)
    }

    /// `again` if a conflict turned the deletion into a write, and that into a deletion.
    fn deletion_ended(&mut self, again: Option<&Deletion>) {
        self.note(again.map(|it| child::changed_while_claimed(&it.id)));
    }

    fn end_writes(&mut self, plan: CarryOut) -> Stage {
        let CarryOut { status, existing, replacing, taken, sequence, .. } = plan;
        if let Some(sequence) = sequence {
            let (view, begun) = (&self.view(), BTreeSet::new());
            let facts = Rollouts::now(&sequence.rollouts, &begun, |_| false, view).facts(view);
            self.note(facts);
        }
        if !self.journal.progress().is_throttled {
            self.memory.forget_throttled();
        }
        if self.memory.waits_for_stages() && !self.journal.progress().is_behind {
            self.note([Fact::WaitedFor(<_>::default())]);
        }
        if let Some(taken) = taken {
            self.effects.push(Effect::Release(taken, self.journal.progress().deleted));
        }
        let parent = self.parent();
        let unknown = if self.snapshot.doubts.may_be_old {
            // A parent that may be outdated keeps all its children.
            [parent.ty().clone()].into()
        } else {
            self.snapshot.doubts.unsynced.types()
        };
        self.note([Fact::WritesEnded { existing, unknown }]);
        let facts = drift::count(&self.view(), !replacing.is_empty());
        self.note(facts);
        self.lap(ReconcileStep::Apply);
        self.conclude(status)
    }
}
