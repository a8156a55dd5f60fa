//! The requests for one child, whichever step of the reconcile writes it.

use crate::{
    object::Object,
    plan::Deletion,
    run::{
        Answer, RequestId,
        child::{self, After, ChildNext},
        reconcile::Reconcile,
        turn::Next,
    },
};

/// What a child waits for.
pub(in crate::run) enum ChildStep {
    Asked(RequestId, Box<child::AwaitedChild>),
    Ended {
        /// The child is to be deleted after all writes.
        deletion: Option<Deletion>,
        /// The terminating object that a deletion left.
        left: Option<Object>,
    },
}

impl Reconcile {
    /// Begins a task, and continues until a request is sent or the child is done.
    pub(in crate::run) fn begin_child(&mut self, task: child::Task) -> ChildStep {
        let next = self.ask(|view| child::begin(task, view));
        self.continue_child(next)
    }

    /// Continues with the answer to the last request.
    pub(in crate::run) fn child_answered(
        &mut self,
        state: child::AwaitedChild,
        answer: Answer,
    ) -> ChildStep {
        let next = self.ask(|view| child::answered(state, answer, view));
        self.continue_child(next)
    }

    fn continue_child(&mut self, mut next: ChildNext) -> ChildStep {
        loop {
            next = match next {
                Next::Ask(request, state) => {
                    return ChildStep::Asked(self.send(request), state);
                }
                Next::Done(After::Hand(task)) => self.ask(|view| child::begin(*task, view)),
                Next::Done(After::Delete(deletion)) => {
                    return ChildStep::Ended { deletion: Some(deletion), left: None };
                }
                Next::Done(After::Nothing(left)) => {
                    return ChildStep::Ended { deletion: None, left };
                }
            };
        }
    }
}
