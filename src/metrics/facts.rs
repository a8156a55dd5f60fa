//! Counts the facts of a reconcile.

#![deny(clippy::wildcard_enum_match_arm)]

use super::{Metrics, Standing};
use crate::{
    history::Verb,
    journal::{Decorated, Fact, Planned, Repeat, Written},
    operator::OperatorName,
    plan::{FlappingReason, Subject},
    report::Gauges,
};

impl Metrics {
    pub(crate) fn count(&self, operator: &OperatorName, facts: &[Fact]) {
        for fact in facts {
            self.count_one(operator, fact);
        }
    }

    #[expect(clippy::match_same_arms, reason = "what is not counted, by subject")]
    fn count_one(&self, operator: &OperatorName, fact: &Fact) {
        match fact {
            Fact::Planned(Planned { up_to_date, .. }) => {
                self.children_unchanged(operator, *up_to_date);
            }
            Fact::Written(Written { child, verb, .. }) => {
                self.child_written(operator, &child.ty, *verb);
            }
            Fact::Decorated(Decorated { parent, .. }) | Fact::Scaled { parent, .. } => {
                self.child_written(operator, &parent.ty, Verb::Updated);
            }
            Fact::WroteNothing { settled, .. } => self.noop_write(operator, &settled.id.ty),
            Fact::ConflictFound(child) => self.conflict(operator, &child.ty),
            Fact::Judged { held, .. } => {
                if let Some(new) = held.as_ref().map(|it| &it.held).filter(|it| it.is_new) {
                    self.deletions_held(operator, new.deletions);
                }
            }
            Fact::Repeated(repeat) => self.repeated(operator, repeat),
            Fact::StatusWritten => self.status_written(operator),
            Fact::Began(_) | Fact::Parent(_) | Fact::ParentWaits(_) => {}
            Fact::BeganPaused(_) | Fact::Paused(_) | Fact::PauseKnown(..) => {}
            Fact::FinalizersChanged | Fact::FinalizersDelayed(_) => {}
            Fact::Answered { .. } | Fact::Resync(_) | Fact::Failed(_) => {}
            Fact::EventsReturned { .. } => {}
            Fact::TerminatingChildren { .. } | Fact::ChildrenNotRetried => {}
            Fact::WritesEnded { .. } | Fact::WritesHeld(_) => {}
            Fact::UpToDate(_) | Fact::DryRunUnchanged(_) | Fact::DryRunDiffers(_) => {}
            Fact::Waits { .. } | Fact::RolledOut(_) | Fact::WaitedFor(_) | Fact::StageDue(_) => {}
            Fact::MayBeDeleted { .. } | Fact::RequestFailed { .. } => {}
            Fact::Foreign(_) | Fact::NotForeign(_) | Fact::Unwatched | Fact::Contested(_) => {}
            Fact::Drifted(..) | Fact::RivalFound { .. } | Fact::Slowed { .. } => {}
            Fact::Flapping(..) => {}
            Fact::DecorationHeld { .. } | Fact::DecorationFree { .. } => {}
            Fact::DecorationDelayed(_) => {}
            Fact::ReadyReturned | Fact::NotReady(_) | Fact::StatusUpToDate { .. } => {}
            Fact::StatusSent { .. } | Fact::StatusDue | Fact::StatusFailed(_) => {}
            Fact::StatusRefused { .. } | Fact::StatusBegan => {}
            Fact::Undeclared(_) | Fact::ParentHeld(_) | Fact::Overruled(_) => {}
        }
    }

    fn repeated(&self, operator: &OperatorName, repeat: &Repeat) {
        let Repeat { subject, why, paths, changed_by, times } = repeat;
        if let (Subject::Child(child), FlappingReason::FightingOverFields) = (subject, why) {
            let fields = paths.len().max(1);
            self.drift_repaired(operator, &child.ty, changed_by.as_deref(), fields);
        }
        if *times > 0 {
            self.flapping(operator, why.name());
        }
    }

    /// Counts the current conditions of a parent until the result is dropped.
    pub(crate) fn standing(&self, operator: &OperatorName, gauges: &Gauges) -> Box<[Standing]> {
        let in_conflict = gauges.in_conflict.iter().map(|ty| self.in_conflict(operator, ty));
        let altered = gauges.altered.iter().map(|ty| self.altered(operator, ty));
        let held = (gauges.held > 0).then(|| self.held(operator, gauges.held));
        in_conflict.chain(altered).chain(held).collect()
    }
}
