//! Reads which fields of a type are secret. The schema of its status is read by those who write it.

use actix::{AsyncContext, Context};
use tokio::task::AbortHandle;

use super::{
    super::{
        mailbox::{Receive, post},
        messages::SchemaRead,
    },
    Reflector,
};
use crate::cluster::secret_fields;

impl Reflector {
    /// Reads the schema again. Until then the known fields stay secret.
    pub(super) fn read_schema(&mut self, ctx: &Context<Self>) {
        let (ty, cluster) = (self.ty().clone(), self.parts.cluster.clone());
        if !ty.may_be_custom() {
            return;
        }
        let (reflector, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let alive = self.parts.alive.clone();
        let report = move |secrets| {
            alive.hold();
            post(&reflector, &mailbox, SchemaRead { secrets });
        };
        let reading = self.parts.runtime.spawn(secret_fields(cluster, ty, report));
        self.reading.replace(reading.abort_handle()).iter().for_each(AbortHandle::abort);
    }
}

impl Receive<SchemaRead> for Reflector {
    fn receive(&mut self, SchemaRead { secrets }: SchemaRead, _: &mut Self::Context) {
        self.state.secrets = Some(secrets.into());
        self.show();
    }
}
