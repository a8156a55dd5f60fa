//! Reads the schema of a type: which fields are secret, and whether it declares another status than before. Those who
//! write the status read its schema themselves.

use actix::{AsyncContext, Context};
use tokio::task::AbortHandle;

use super::{
    super::{
        mailbox::{Receive, post},
        messages::{DefinitionChanged, SchemaRead},
    },
    Reflector, WatchParts,
};
use crate::cluster::definition;

impl Reflector {
    /// Reads the schema again. Until then the known fields stay secret.
    pub(super) fn read_schema(&mut self, ctx: &Context<Self>) {
        let (ty, cluster) = (self.ty().clone(), self.reflecting.parts.cluster.clone());
        if !ty.may_be_custom() {
            return;
        }
        let WatchParts { mailbox, alive, runtime, .. } = &self.reflecting.parts;
        let (reflector, mailbox, alive) = (ctx.address(), mailbox.clone(), alive.clone());
        let report = move |schema| {
            alive.hold();
            post(&reflector, &mailbox, SchemaRead { schema });
        };
        let reading = runtime.spawn(definition(cluster, ty, report));
        self.reading.replace(reading.abort_handle()).iter().for_each(AbortHandle::abort);
    }
}

impl Receive<SchemaRead> for Reflector {
    fn receive(&mut self, SchemaRead { schema }: SchemaRead, _: &mut Self::Context) {
        // A schema that does not say it leaves them as they are known.
        if let Some(secrets) = &schema.secrets {
            self.state.secrets = Some(secrets.clone().into());
            self.show();
        }
        let before = self.schema.replace(schema.clone());
        if before.is_some_and(|before| before.status != schema.status) {
            tracing::info!(ty = %self.ty(), "the type declares another status");
            self.reflecting.observers.post(&DefinitionChanged { ty: self.ty().clone() });
        }
    }
}
