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

use std::time::SystemTime;

use k8s_openapi::{api::core::v1::Namespace, jiff::Timestamp};
use kube::api::ObjectMeta;
use operetta::{
    object::Object,
    operator::{
        AnyOperator, ChildConfig, ErrorResponse, Handler, OperatorConfig, Permanent, SyncRequest,
        SyncResponse,
    },
};

mod crd;
mod delete_after;
mod life;

pub use crd::{Phase, TempNamespace, TempNamespaceSpec, TempNamespaceStatus};
pub use life::Life;

/// The operator as the binary registers it.
pub fn operator() -> AnyOperator {
    AnyOperator::new(config(), TempNamespaces::default())
}

/// Its name and types.
pub fn config() -> OperatorConfig {
    OperatorConfig::custom::<TempNamespace>("temp-namespace")
        .child::<Namespace>(ChildConfig::on_delete())
}

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

impl Handler for TempNamespaces {
    /// A parent that violates the schema is reported in its status too.
    type Parent = Object;
    type Response = SyncResponse<TempNamespaceStatus>;

    fn sync(&self, request: &SyncRequest) -> anyhow::Result<SyncResponse<TempNamespaceStatus>> {
        let parent: TempNamespace = request.parent_as()?;
        let namespace = request.children::<Namespace>().named(request.parent.name())?;
        // No retry fixes an invalid spec.
        let lifetime = delete_after::parse(&parent.spec.delete_after);
        let lifetime = lifetime.map_err(|error| Permanent(error.to_string()))?;
        let recorded = parent.status.unwrap_or_default();
        let now = Timestamp::try_from((self.clock)())?;
        let life = life::life(&recorded, namespace, lifetime, now);
        let namespace = life.is_wanted.then(|| desired(request.parent.name()));
        let mut response = SyncResponse::status(life.status).children(namespace);
        response.resync = life.resync;
        Ok(response)
    }

    fn on_error(&self, request: &SyncRequest, error: &anyhow::Error) -> ErrorResponse {
        // An invalid status is not overwritten: it may contain the deletion.
        let Ok(recorded) = recorded(request) else { return ErrorResponse::default() };
        let status = life::interrupted(recorded.unwrap_or_default(), format!("{error:#}"));
        ErrorResponse::status(status)
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
