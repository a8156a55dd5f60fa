//! Admission: what may change or refuse a write after its object was read, and before it is stored.
//!
//! ```text
//!  rest ─ Admission (who asks for what, and the chain as it is now) ─ with the options of the write
//!                                                                          │
//!  write: decode ─ managedFields ─ mutate ─ prepare ─ validate (type) ─ validate ─ commit
//!                                  │ policies, webhooks,                │ policies, webhooks,
//!                                  │ again if they changed it           │ quotas last
//! ```
//!
//! **Invariants.**
//! - A write computes, calls, and then commits by compare-and-swap: no lock is held during a call, and a
//!   write that was overtaken computes and calls again.
//! - A request sees one chain from its beginning to its end. Without configurations it costs a comparison of
//!   versions.
//! - The server's own writes have no [`Admission`].
//! - Webhooks are called on threads that may wait (see [`crate::callout`]).

mod again;
mod asked;
mod attributes;
mod chain;
mod json_patch;
mod kind;
mod label_rule;
mod limits;
mod mutating;
mod pass;
mod patched;
mod policy;
mod priority;
mod request;
mod review;
mod rule;
mod validating;
mod warnings;
mod webhook;

pub(crate) use self::{
    asked::Asked,
    chain::{Chain, Chains},
    kind::{GroupVersionKind, Operation},
    pass::Unknown,
    policy::configuration_errors,
    request::Admission,
};
