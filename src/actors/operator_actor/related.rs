//! Changes of related objects, and the states of their watches: wakes exactly the parents that ask for them.

use std::{sync::Arc, time::Duration};

use super::OperatorActor;
use crate::{
    actors::{
        mailbox::{Receive, post},
        messages::{
            RelatedChanged, RelatedObserved, RelatedProblems, RelatedSettled, Touched,
            WatchChanged, WatchCondition,
        },
    },
    execute::Origin,
    history::Cause,
    object::{K8sType, Uid},
    related::FeedState,
    schedule::Trigger,
    store::Change,
};

/// So many parents are reconciled at once after a change of an object that they read. More are spread.
const AT_ONCE: usize = 32;

/// The distance between two parents that are spread.
const STEP: Duration = Duration::from_millis(10);

/// The last parent waits no longer.
const LONGEST: Duration = Duration::from_mins(1);

/// When the parent at this position is reconciled after a change that concerns so many.
fn delay(position: usize, count: usize) -> Duration {
    if count <= AT_ONCE {
        return Duration::ZERO;
    }
    let step = STEP.min(LONGEST / u32::try_from(count).unwrap_or(u32::MAX));
    step * u32::try_from(position).unwrap_or(u32::MAX)
}

impl OperatorActor {
    pub(super) fn related_changed(
        &self,
        ty: &K8sType,
        changes: &Arc<[Change]>,
        at: usize,
        origin: Option<&Origin>,
    ) {
        let parents = self.parts.context.parts.reads.concerned(ty, &changes[at]);
        for (position, uid) in parents.iter().enumerate() {
            let after = delay(position, parents.len());
            let known = self.keys.get(uid).and_then(|key| self.parents.get(key));
            if let Some(parent) = known.filter(|_| !self.is_own(uid, origin)) {
                let (ty, changes) = (ty.clone(), changes.clone());
                let message = RelatedChanged { ty, changes, at, after };
                post(&parent.reconciler, &self.reconcilers.mailbox, message);
            }
        }
    }

    fn related_settled(&self, ty: &K8sType, parents: &[Uid]) {
        for uid in parents {
            if let Some(parent) = self.keys.get(uid).and_then(|key| self.parents.get(key)) {
                let cause = Cause::RelatedListed { ty: ty.clone() };
                let touched = Touched { trigger: Trigger::Awaited, cause };
                post(&parent.reconciler, &self.reconcilers.mailbox, touched);
            }
        }
    }

    /// A watch that exists for other reasons, and shows all objects of a related type.
    pub(super) fn related_watch_changed(&mut self, changed: &WatchChanged) {
        let WatchChanged { watched, condition } = changed;
        let reads = &self.parts.context.parts.reads;
        let Some(source) = reads.whole(&watched.ty).filter(|_| watched.namespace.is_none()) else {
            return;
        };
        let why = match condition {
            // What the operator requires for itself is reported as such.
            _ if self.watches.contains_key(watched) => None,
            WatchCondition::Failing(why) | WatchCondition::Refused(why) => Some(why),
            WatchCondition::Pending | WatchCondition::Synced => None,
        };
        let problems = why.map(|why| format!("related objects: {why}")).into_iter().collect();
        let is_listed = source.is_listed();
        source.set_whole(match condition {
            WatchCondition::Pending => FeedState::Pending,
            WatchCondition::Synced => FeedState::Synced,
            // The listed objects are still good enough.
            WatchCondition::Failing(_) if is_listed => FeedState::Synced,
            WatchCondition::Failing(why) | WatchCondition::Refused(why) => {
                FeedState::Failing(why.clone())
            }
        });
        if *condition == WatchCondition::Synced || !is_listed {
            self.related_settled(&watched.ty, &reads.parents(&watched.ty));
        }
        self.set_related_problems(watched.ty.clone(), problems);
    }

    fn set_related_problems(&mut self, ty: K8sType, problems: Vec<String>) {
        let known = self.related_problems.entry(ty).or_default();
        if std::mem::replace(known, problems) != *known {
            self.show_state();
        }
    }
}

impl Receive<RelatedObserved> for OperatorActor {
    fn receive(&mut self, observed: RelatedObserved, _: &mut Self::Context) {
        let RelatedObserved { ty, changes } = observed;
        if self.scopes.have_begun() {
            (0..changes.len()).for_each(|at| self.related_changed(&ty, &changes, at, None));
        }
    }
}

impl Receive<RelatedSettled> for OperatorActor {
    fn receive(&mut self, RelatedSettled { ty, asks }: RelatedSettled, _: &mut Self::Context) {
        let parents = self.parts.context.parts.reads.asking(&ty, &asks);
        self.related_settled(&ty, &parents);
    }
}

impl Receive<RelatedProblems> for OperatorActor {
    /// Problems that are reported while the actor is down hold after its restart.
    const ALWAYS: bool = true;

    fn receive(&mut self, problems: RelatedProblems, _: &mut Self::Context) {
        let RelatedProblems { ty, reasons } = problems;
        self.set_related_problems(ty, reasons);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_parents_go_at_once_and_many_one_after_the_other() {
        assert!((0..AT_ONCE).all(|position| delay(position, AT_ONCE).is_zero()));
        assert_eq!(delay(0, 5000), Duration::ZERO);
        assert_eq!(delay(4999, 5000), STEP * 4999);
        let last = delay(999_999, 1_000_000);
        assert!(last <= LONGEST && last > LONGEST / 2, "{last:?}");
    }
}
