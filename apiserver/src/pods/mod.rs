//! What can be done to Pods beside writing them: binding to a node, eviction, and connections to what does
//! not run here.
//!
//! ```text
//!  pods/binding, bindings ─> binding ────────────────> node name, PodScheduled
//!  pods/eviction ─> eviction ─> budget (one PDB) ────> DisruptionTarget, then deletion
//!  log, exec, ... ─> connection ─────────────────────> the answer about a Pod without a node, or 501
//! ```
//!
//! **Invariants**: an eviction takes one disruption from its budget before it deletes the Pod. Nothing here
//! knows HTTP.

mod binding;
mod budget;
mod budget_condition;
mod condition;
mod connection;
mod eviction;

pub(crate) use self::{
    binding::{Binding, bind},
    budget_condition::{set_budget_condition, set_disruption_allowed},
    condition::{is_ready, set_condition},
    connection::{Connection, SIMULATED, connect},
    eviction::{evict, success},
};
