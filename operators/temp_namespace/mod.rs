//! `temp-namespace`: a `TempNamespace` is a namespace that is deleted when its time has come.
//!
//! Shows a cluster-scoped parent, a handler with settings (its clock), and a run at a chosen time:
//! nothing polls. Expiry is judged by the clock of this process, creation by that of the server.
//!
//! ```text
//!   Pending --created--> Active --time is over--> Deleting --gone--> Deleted (for good)
//! ```
//!
//! Invariants:
//! - only the time being over deletes a namespace: a `deleteAfter` that is no time keeps it;
//! - after `status.deletedAt` is set the namespace is never created again.

use std::time::SystemTime;

use k8s_openapi::{api::core::v1::Namespace, jiff::Timestamp};
use kube::api::ObjectMeta;
use operetta::operator::{
    ChildConfig, Handler, OperatorConfig, Permanent, SyncRequest, SyncResponse,
};

use crate::Operator;

mod crd;
mod delete_after;
mod life;

pub use crd::{Phase, TempNamespace, TempNamespaceSpec, TempNamespaceStatus};

/// The operator as the binary registers it.
pub fn operator() -> Operator {
    Operator::of::<TempNamespace>(config(), TempNamespaces::default())
}

/// What it answers for.
pub fn config() -> OperatorConfig {
    OperatorConfig::of::<TempNamespace>("temp-namespace")
        .child::<Namespace>(ChildConfig::on_delete())
}

/// Where the handler gets the time from.
pub type Clock = fn() -> SystemTime;

/// The handler.
#[derive(Debug, Clone, Copy)]
pub struct TempNamespaces {
    clock: Clock,
}

impl TempNamespaces {
    /// A handler with a clock of its own, for tests.
    pub fn new(clock: Clock) -> Self {
        Self { clock }
    }
}

impl Default for TempNamespaces {
    fn default() -> Self {
        Self::new(SystemTime::now)
    }
}

impl Handler for TempNamespaces {
    fn sync(&self, request: &SyncRequest) -> anyhow::Result<SyncResponse> {
        let parent: TempNamespace = request.parent_as()?;
        let namespace = request.children::<Namespace>().named(request.parent.name())?;
        let lifetime = delete_after::parse(&parent.spec.delete_after)
            // No retry mends what the user wrote.
            .map_err(|error| Permanent(error.to_string()))?;
        let recorded = parent.status.unwrap_or_default();
        let now = Timestamp::try_from((self.clock)())?;
        let life = life::life(&recorded, namespace.as_ref(), lifetime, now);
        let children = life.is_wanted.then(|| desired(request.parent.name()));
        let response = SyncResponse::status(life.status).children(children);
        Ok(SyncResponse { resync: life.look_again, ..response })
    }
}

fn desired(name: &str) -> Namespace {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    Namespace { metadata, ..Namespace::default() }
}

#[cfg(test)]
mod tests;
