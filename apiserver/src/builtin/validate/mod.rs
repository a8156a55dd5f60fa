//! Validation with the messages of the real server, in its order.
//!
//! ```text
//! create, update --> kind (which rules for which kind)
//!                      |--> pod, workload, job, volume, network, ... (one file a concept)
//!                      |--> declared (of kinds that have no rules here: what their types declare)
//! status ----------> status
//! ```
//!
//! **Invariants**: a rule reads values through `field`, which knows their place, and pushes errors in the order of
//! the real server. `metadata` is not validated here (see `schema::metadata`), nor are schemas of custom
//! resource definitions (see `crd`). `tests/it/validation` lists what differs.

mod admission;
mod autoscaler;
mod class;
mod config;
mod declared;
mod device;
mod difference;
mod disruption;
mod event;
mod field;
mod flow;
mod immutable;
mod ip;
mod job;
mod json_text;
mod kind;
mod lease;
mod limit_range;
mod metric;
mod name;
mod namespace;
mod network;
mod node;
mod node_selector;
mod number;
mod pod;
mod quota;
mod rbac;
mod resource_name;
mod revision;
mod scaled;
mod selector;
mod shown;
mod status;
mod storage;
mod volume;
mod workload;

#[cfg(test)]
mod tests;

pub(crate) use self::selector::matches as selects;
use field::{Errors, Field};
use serde_json::Value;

use super::catalog::BuiltinType;
use crate::{
    quantity::Quantity,
    schema::{FieldError, FieldPath},
};

/// Why a new object is refused; empty when it is not. The object is defaulted and prepared.
pub fn validate_create(ty: &BuiltinType, object: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    if !kind::create(ty, &Field::root(object), &mut errors) {
        declared::object(ty.root, object, &mut errors);
    }
    errors
}

/// What is only refused because it changed; [`validate_update`] finds it too.
pub(crate) fn validate_change(ty: &BuiltinType, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    kind::change(ty, &Field::root(new), &Field::root(old), &mut errors);
    errors
}

/// What is wrong with the addresses of a service, which is found before anything else.
pub(crate) fn address_errors(service: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    network::service::addresses(&Field::root(service), &mut errors);
    errors
}

/// What is wrong with where a webhook is, for configurations that are not built-in.
pub(crate) fn webhook_client_errors(config: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Errors::new();
    admission::target::check(&Field::new(config, path), &mut errors);
    errors
}

/// What holds for a pod whenever it is written, also through its subresources.
pub(super) fn validate_pod(pod: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    pod::metadata_and_spec(&Field::root(pod), &mut errors);
    errors
}

/// Why the successor of `old` is refused; empty when it is not. Both are defaulted and prepared.
pub fn validate_update(ty: &BuiltinType, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    if !kind::update(ty, &Field::root(new), &Field::root(old), &mut errors) {
        declared::object(ty.root, new, &mut errors);
    }
    errors
}

/// Why a status written to its own subresource is refused; empty when it is not.
pub fn validate_status(ty: &BuiltinType, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    status::update(ty, &Field::root(new), &Field::root(old), &mut errors);
    errors
}
