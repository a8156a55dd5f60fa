//! The operators of this repository, and the manifests that a cluster needs for them.
//!
//! One folder per operator. One line in [`all`] adds an operator to the binary; its CRD and its
//! permissions are then part of `deploy/` and of every start. Nothing here starts anything.

use operetta::supervisor::SupervisorBuilder;

pub mod config_propagation;
pub mod crds;
pub mod database;
pub mod deployment_scaler;
pub mod echo_server;
pub mod install;
pub mod manifests;
pub mod rbac;
pub mod temp_namespace;

mod manifest;
mod operator;
mod selector;

pub use manifest::flag;
pub use operator::Operator;
pub use selector::{InvalidSelector, LabelOperator, Requirement, Selector};

/// Every operator of this binary, one line each.
pub fn all() -> Vec<Operator> {
    vec![
        echo_server::operator(),
        temp_namespace::operator(),
        config_propagation::operator(),
        deployment_scaler::operator(),
        database::operator(),
    ]
}

/// The operators that can be restricted to namespaces, within these; all of them if there are none.
pub fn within(operators: Vec<Operator>, namespaces: &[String]) -> Vec<Operator> {
    if namespaces.is_empty() {
        return operators;
    }
    operators.into_iter().filter_map(|operator| operator.within(namespaces)).collect()
}

/// Registers operators with a supervisor.
pub fn register_all(builder: SupervisorBuilder, operators: Vec<Operator>) -> SupervisorBuilder {
    operators.into_iter().map(|one| one.operator).fold(builder, SupervisorBuilder::register_any)
}
