//! Changes of the definition of the parents' type. When it declares another status, the parents are reconciled, so that
//! the newly declared fields are written.
//!
//! ```text
//! the watch of the type was opened: another status  --DefinitionChanged--+
//! something is not declared, for a minute -------------------------------+--> the schema is read
//! a reconcile reads the schema ------------------------------------------------------+
//!                                          another one than before, at the next beat v
//!                                                                  all parents are reconciled
//! ```

use super::OperatorActor;
use crate::{
    actors::{
        mailbox::{Receive, post},
        messages::{DefinitionChanged, Touched},
    },
    history::Cause,
    schedule::Trigger,
};

impl Receive<DefinitionChanged> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, DefinitionChanged { ty }: DefinitionChanged, _: &mut Self::Context) {
        if ty == *self.parts.parents.ty() {
            self.parts.context.outdate_schema();
            self.read_schema_again();
        }
    }
}

impl OperatorActor {
    /// Servers end the watches of a type whose definition changes, but not all of them publish it soon: while something
    /// is not written because it is not declared, the schema is read again. So it is while it cannot be read.
    pub(super) fn follow_definition(&self) {
        if self.parts.context.has_old_schema() {
            self.read_schema_again();
        }
        if !self.parts.context.was_redefined() {
            return;
        }
        for parent in self.parents.values() {
            let (trigger, cause) = (Trigger::Parent, Cause::DefinitionChanged);
            post(&parent.reconciler, &self.reconcilers.mailbox, Touched { trigger, cause });
        }
    }

    fn read_schema_again(&self) {
        let context = self.parts.context.clone();
        self.parts.runtime.spawn(async move { context.read_schema_again().await });
    }
}
