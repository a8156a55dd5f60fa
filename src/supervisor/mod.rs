//! Wires all parts together, starts and stops them.
//!
//! Layer 11, the composition root: it decides nothing about objects.
//!
//! ```text
//! Supervisor::builder().connect(..).register(..).serve(..) --run()----> until SIGINT or SIGTERM
//!                                                          --start()--> Running, until it is stopped
//! ```
//!
//! A thread of its own is the actors' System. Requests, watches, reconciles and handlers run on a separate
//! multi-thread runtime, so that no actor ever waits for them. The caller awaits channels only: nothing
//! blocks its runtime, and it needs none.

mod announcement;
mod before_start;
mod builder;
#[cfg(feature = "certificates")]
mod certificates;
#[cfg(not(feature = "certificates"))]
#[path = "no_certificates.rs"]
mod certificates;
mod checks;
#[cfg(feature = "testkit")]
mod clock;
mod connect;
mod connection;
mod demand;
mod elections;
#[cfg(feature = "embedded")]
mod embedded;
mod ending;
mod error;
mod external;
mod fences;
mod migration;
mod published;
mod readiness;
mod reconcile_on;
mod registry;
mod run_operator;
mod running;
mod sharing;
mod signals;
mod system;
mod thread;
mod unserved;
mod webhooks;
mod wiring;

pub use builder::{Supervisor, SupervisorBuilder};
#[cfg(feature = "testkit")]
pub(crate) use clock::Jump;
pub use connect::Connect;
pub use connection::Connection;
#[cfg(feature = "embedded")]
pub use embedded::{Embedded, EmbeddedError};
pub use error::RunError;
pub use external::TriggerError;
pub use migration::Migration;
pub use registry::{OnRemoval, Registrar, RegistrationError};
pub use run_operator::{run_operator, run_operator_with};
#[cfg(feature = "testkit")]
pub(crate) use running::Watches;
pub use running::{Ready, Running};

pub use crate::{
    admission::WebhooksError,
    cluster::{InstallError, Timeouts, install_crds},
    metrics::{MetricDescription, Metrics},
};

#[cfg(test)]
pub(crate) mod tests {
    use crate::operator::{SyncRequest, SyncResponse};

    /// A handler without children and status.
    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    pub(crate) fn sync(_: &SyncRequest) -> anyhow::Result<SyncResponse> {
        Ok(SyncResponse::new())
    }
}
