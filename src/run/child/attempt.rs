//! Whether a child is written again in this reconcile.

use super::task::{Attempt, ChildNext, TRIES, Task, done, hand};
use crate::{
    history::Verb,
    plan::{ChildId, Step, Write},
    run::{
        module_view::View,
        turn::{StopReason, Turn, child_failed},
    },
};

impl Attempt {
    pub(in crate::run) fn new(write: Write, verb: Verb) -> Self {
        Self { write, verb, tries: 0, error: None }
    }

    pub(super) fn id(&self) -> &ChildId {
        &self.write.id
    }

    fn step(&self) -> Step {
        let write = self.write.clone();
        if write.is_creating() { Step::Create(write) } else { Step::Update(write) }
    }

    /// Retries with another write, if tries are left and nothing stops it.
    pub(super) fn again(self, write: Write, verb: Verb, view: &View<'_>) -> Turn<ChildNext> {
        let Self { tries, error, .. } = self;
        let next = Self { write, verb, tries, error };
        match next.error {
            Some(error) if tries == TRIES => done().note(child_failed(&next.write.id, error)),
            _ => match next.stopped(view) {
                Some(stopped) => stopped,
                None => hand(Task::Apply(next)),
            },
        }
    }

    /// The end of the attempt, if writing must stop.
    pub(super) fn stopped(&self, view: &View<'_>) -> Option<Turn<ChildNext>> {
        let stop = StopReason::before(view, self.verb)?;
        let mut turn = done();
        turn.facts = stop.hold(&self.step(), view);
        Some(turn)
    }
}
