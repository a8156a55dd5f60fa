//! The errors of registrations at run time.

use crate::{operator::ConfigError, supervisor::RunError};

/// Why an operator was not registered, changed or removed. Nothing has changed then, unless the variant says more.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    /// The configuration cannot work, or its name is taken.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The supervisor cannot start the operator.
    #[error(transparent)]
    Start(#[from] Box<RunError>),
    /// No operator of this name is registered.
    #[error("no operator `{0}` is registered")]
    Unknown(String),
    /// The operator of this name is being removed.
    #[error("operator `{0}` is being deregistered: wait until `deregister` has returned")]
    Leaving(String),
    /// Something changed that cannot change in place.
    #[error(
        "operator `{operator}`: its {what} cannot be changed while it runs: deregister it, and register it with \
         the new configuration"
    )]
    Fixed {
        /// The operator.
        operator: String,
        /// What changed.
        what: &'static str,
    },
    /// Some parents were not finalized in time. The operator continues finalizing: call `deregister` again, also with
    /// [`OnRemoval::Leave`](super::OnRemoval::Leave).
    #[error(
        "operator `{operator}` did not finalize {} parents in time: {}; fix what holds them, and call `deregister` \
         again", .parents.len(), .parents.join(", ")
    )]
    NotFinalized {
        /// The operator.
        operator: String,
        /// The parents that remain.
        parents: Vec<String>,
    },
    /// The parents of the operator are not known yet.
    #[error(
        "operator `{0}` cannot finalize its parents, as not all its types are listed: fix what degrades it, or \
         deregister it with `OnRemoval::Leave`"
    )]
    NotListed(String),
    /// The supervisor has ended.
    #[error("the supervisor has ended")]
    Stopped,
}
