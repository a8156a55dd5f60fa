//! Admission: handlers that the API server asks before it stores an object.
//!
//! ```text
//! AdmissionRequest { operation, object, old, user } --validate--> Admission: allowed, or denied as the API server does
//!                                                   --mutate--->  the same, and the object as it is to be stored
//! ```
//!
//! Nothing here does I/O: a handler can be called from a plain test. See [`Webhook`].

mod carried;
mod choices;
mod forms;
mod operation;
mod request;
mod verdict;
mod webhook;

pub use choices::{FailurePolicy, MatchCondition, Reinvocation, SideEffects, WebhookKind};
pub(crate) use forms::{Admits, Answered, Call};
pub use forms::{IntoMutator, IntoValidator, form};
pub use operation::Operation;
pub use request::{AdmissionRequest, AdmissionUser};
pub use verdict::{Admission, Denial, DenialReason};
pub(crate) use webhook::check_all;
pub use webhook::{Webhook, WebhookError};
