//! Policies: rules in CEL that the server itself evaluates.
//!
//! ```text
//!  policy ─ matches? ─ binding ─ matches? ─ parameters ─ for each: conditions ─ variables ─ mutations
//!                                                                                     │ or validations
//!                        Deny: the first is the answer, Warn: all, Audit: nowhere  <──┘
//! ```
//!
//! **Invariants.** A policy is compiled once per change of any configuration. What does not compile fails or
//! is ignored when it would be evaluated, as its policy says. The results of `auditAnnotations` are checked
//! and forgotten: there is no audit log.

mod compiled;
mod errors;
mod facts;
mod frame;
mod invocation;
mod mutating;
mod params;
mod validating;

pub(crate) use self::errors::configuration_errors;
pub(super) use self::{
    compiled::{MutatingPolicy, ValidatingPolicy},
    facts::BoundFacts,
    frame::Conditions,
    mutating::mutate,
    validating::validate,
};
