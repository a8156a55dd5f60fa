//! `temp-namespace`: a `TempNamespace` is a namespace that is deleted after its lifetime.
//!
//! Shows a cluster-scoped parent, a handler with settings (its clock) whose errors are part of the
//! status, and a reconcile at a chosen time instead of polling. The expiry is judged by the clock
//! of this process, the creation by that of the server.
//!
//! ```text
//!   Pending --created--> Active --expired--> Deleting --gone--> Deleted (permanently)
//! ```
//!
//! Invariants:
//! - a namespace is deleted only when it has expired: an invalid `deleteAfter` keeps it;
//! - after `status.deletedAt` is set the namespace is never created again.
//! - after `status.deletedAt` is set the namespace is never created again.

use std::time::{Duration, SystemTime};

use k8s_openapi::{api::core::v1::Namespace, jiff::Timestamp};
use kube::api::ObjectMeta;
use operetta::operator::{
    ChildConfig, OperatorConfig, SyncRequest,
    failable::{DefaultFailableHandler, FailableHandler, HandlerResult},
};
use serde_json::Value;

use crate::Operator;

mod crd;
mod delete_after;
mod life;

pub use crd::{Phase, TempNamespace, TempNamespaceSpec, TempNamespaceStatus};
pub use life::Life;

use delete_after::InvalidDeleteAfter;

/// The operator as the binary registers it.
pub fn operator() -> Operator {
    let handler = DefaultFailableHandler::wrap(TempNamespaces::default());
    Operator::of::<TempNamespace, _>(config(), handler)
}

/// Its name and types.
pub fn config() -> OperatorConfig {
    OperatorConfig::of::<TempNamespace>("temp-namespace")
        .child::<Namespace>(ChildConfig::on_delete())
}

/// The result of a call.
type Outcome = HandlerResult<Life, anyhow::Error>;

/// The source of the time.
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

impl FailableHandler for TempNamespaces {
    type Validated = Life;
    type Error = anyhow::Error;
    /// `None` leaves the status as it is.
    type Status = Option<TempNamespaceStatus>;

    fn validate(&self, request: &SyncRequest) -> anyhow::Result<Life> {
        let parent: TempNamespace = request.parent_as()?;
        let namespace = request.children::<Namespace>().named(request.parent.name())?;
        let lifetime = delete_after::parse(&parent.spec.delete_after)?;
        let recorded = parent.status.unwrap_or_default();
        let now = Timestamp::try_from((self.clock)())?;
        Ok(life::life(&recorded, namespace, lifetime, now))
    }

    fn sync_children(&self, life: &mut Life, request: &SyncRequest) -> anyhow::Result<Vec<Value>> {
        let namespace = life.is_wanted.then(|| desired(request.parent.name()));
        namespace.into_iter().map(|namespace| Ok(serde_json::to_value(namespace)?)).collect()
    }

    fn resync(&self, life: &Life) -> Option<Duration> {
        life.resync
    }

    fn determine_status(&self, request: &SyncRequest, result: Outcome) -> Self::Status {
        match result {
            HandlerResult::SyncSuccess(life) => Some(life.status),
            failed => {
                let why = format!("{:#}", failed.into_error()?);
                // An invalid status is not overwritten: it may contain the deletion.
                let recorded = recorded(request).ok()?;
                Some(life::interrupted(recorded.unwrap_or_default(), why))
            }
        }
    }

    /// No retry fixes an invalid spec.
    fn is_permanent(&self, error: &anyhow::Error) -> bool {
        error.is::<InvalidDeleteAfter>()
    }
}

/// The status alone, as the spec may be invalid.
fn recorded(request: &SyncRequest) -> serde_json::Result<Option<TempNamespaceStatus>> {
    request.parent.field("status").map_or(Ok(None), serde_json::from_value)
}

fn desired(name: &str) -> Namespace {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    Namespace { metadata, ..Namespace::default() }
}

#[cfg(test)]
mod tests;
