//! The restart of a reflector after a panic: its watches end before others start, no object of the type is deleted
//! until these are in sync, and the operators of the type start again, because a change may not have been reported.

use actix::Context;
use tokio::task::AbortHandle;

use super::Reflector;
#[cfg(feature = "testkit")]
use crate::board::Board;
use crate::{
    actors::{
        messages::{ReflectorFell, WatchCondition},
        supervised::{Fall, Supervised, Supervision},
    },
    board::TypeError,
};

impl Supervised for Reflector {
    fn supervision(&mut self) -> &mut Supervision {
        &mut self.supervision
    }

    fn title(&self) -> String {
        format!("the reflector of {}", self.ty().resource_name())
    }

    #[cfg(feature = "testkit")]
    fn board(&self) -> &Board {
        &self.parts.board
    }

    fn fallen(&mut self, fall: &Fall, _: &mut Context<Self>) {
        let fallbacks = self.fallbacks();
        for scope in 0..self.scopes.len() {
            self.scopes[scope].watching.take().iter().for_each(AbortHandle::abort);
            if fallbacks.contains(&scope) {
                self.rest(scope);
            } else {
                self.parts.store.cut_off(self.scopes[scope].id, true);
            }
            let message = fall.sentence();
            self.set_condition(scope, WatchCondition::Failing(message.clone()));
            self.scopes[scope].error = Some(TypeError { message, permission: None });
        }
        self.reading.take().iter().for_each(AbortHandle::abort);
        self.state.restarts += 1;
        let notice = ReflectorFell { actor: "reflector", why: fall.why.as_str().into() };
        self.observers.fell(&notice);
        self.show();
    }

    /// What failed before the panic does not count.
    fn risen(&mut self, ctx: &mut Context<Self>) {
        self.scopes.iter_mut().for_each(|scope| scope.failures = 0);
        self.start_loops(ctx);
    }
}
