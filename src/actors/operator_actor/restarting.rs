//! The restart of an operator after a panic of its actor, or of an actor that it relies on. All reconcilers end, and start
//! again as after a start of the process. A parent is not reconciled before its last reconcile has ended.

use actix::Context;

use super::{Awaiting, OperatorActor};
#[cfg(feature = "testkit")]
use crate::board::Board;
use crate::{
    actors::{
        mailbox::Receive,
        messages::ReflectorPanicked,
        supervised::{ActorPanic, Supervised, Supervision},
    },
    object::ObjectKey,
};

impl Supervised for OperatorActor {
    fn supervision(&mut self) -> &mut Supervision {
        &mut self.supervision
    }

    fn title(&self) -> String {
        format!("the operator {}", self.name())
    }

    #[cfg(feature = "testkit")]
    fn board(&self) -> &Board {
        &self.parts.board
    }

    fn panicked(&mut self, panic: &ActorPanic, _: &mut Context<Self>) {
        self.end_reconcilers();
        self.count_restart(&panic.why);
        self.panicked = Some(panic.sentence());
        self.show_state();
    }

    fn restarted(&mut self, _: &mut Context<Self>) {
        self.panicked = None;
        self.begin_again();
    }
}

impl OperatorActor {
    fn end_reconcilers(&mut self) {
        let keys: Vec<ObjectKey> = self.parents.keys().cloned().collect();
        for key in &keys {
            self.retire(key);
        }
        self.keys.clear();
        self.awaiting = Awaiting::default();
        self.scopes.reset();
    }

    fn begin_again(&mut self) {
        if self.is_over {
            return;
        }
        self.start_when_listed();
        self.show_state();
    }

    fn count_restart(&self, why: &str) {
        self.parts.context.metrics().restarted(self.name());
        self.parts.board.restarted(self.name(), why);
    }
}

impl Receive<ReflectorPanicked> for OperatorActor {
    fn receive(&mut self, panic: ReflectorPanicked, _: &mut Self::Context) {
        self.end_reconcilers();
        self.count_restart(&panic.why);
        self.begin_again();
    }
}
