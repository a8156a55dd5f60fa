//! What is written through `/status`.
//!
//! ```text
//! workloads, quotas, claims: counters, amounts (here)
//! pod, address (of load balancers), condition; jobs and nodes have files of their own
//! ```
//!
//! **Invariants**: only the status is checked; nothing else changes with it.

mod address;
mod condition;
mod counter;
mod pod;

use super::{
    field::{Errors, Field},
    flow, job, node, quota, resource_name,
};
use crate::{builtin::catalog::BuiltinType, schema::FieldPath};

/// Why a status is refused.
pub(super) fn update(ty: &BuiltinType, new: &Field, old: &Field, errors: &mut Errors) {
    let status = new.child("status");
    counter::check(ty.kind, &status, errors);
    match (ty.group, ty.kind) {
        ("", "Pod") => pod::update(new, old, errors),
        ("", "Node") => node::update(new, old, errors),
        ("", "Namespace") => namespace(new, errors),
        ("", "Service") => address::of_service(new, errors),
        ("", "PersistentVolumeClaim") => claim(&status, errors),
        ("", "ResourceQuota") => {
            quota::amounts(&status.child("hard"), errors);
            quota::amounts(&status.child("used"), errors);
        }
        ("flowcontrol.apiserver.k8s.io", _) => flow::conditions(new, errors),
        ("batch", "Job") => job::status::update(new, old, errors),
        ("networking.k8s.io", "Ingress") => address::of_ingress(new, errors),
        ("policy", "PodDisruptionBudget") => {
            condition::all(&status.child("conditions"), errors);
            for field in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]
            {
                status.integer(field).is_not_negative(errors);
            }
        }
        _ => {}
    }
    counter::collisions(ty.kind, &status, &old.child("status"), errors);
}

/// A namespace is active until it is deleted, and never afterwards.
fn namespace(new: &Field, errors: &mut Errors) {
    let phase = new.child("status").string("phase").named(FieldPath::new("status.Phase"));
    let (expected, detail) = match new.child("metadata").given("deletionTimestamp") {
        None => ("Active", "may only be 'Active' if `deletionTimestamp` is empty"),
        Some(_) => ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    };
    if phase.text() != expected {
        errors.push(phase.invalid(detail));
    }
}

const RESIZING: [&str; 5] = [
    "ControllerResizeInfeasible",
    "ControllerResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizePending",
];

fn claim(status: &Field, errors: &mut Errors) {
    for (_, amount) in status.child("capacity").entries() {
        basic(&amount, errors);
    }
    let statuses = status.child("allocatedResourceStatuses");
    for (name, state) in statuses.entries() {
        resource_key(name, &statuses, errors);
        if !RESIZING.contains(&state.text()) {
            // The real server shows the name of the resource.
            let error = statuses.not_supported(&RESIZING);
            let value = Some(crate::schema::go_value::quote(name));
            errors.push(crate::schema::FieldError { value, ..error });
        }
    }
    let allocated = status.child("allocatedResources");
    for (name, amount) in allocated.entries() {
        let before = errors.len();
        resource_key(name, &allocated, errors);
        basic(&amount, errors);
        if errors.len() == before {
            resource_name::amount("storage", &amount, errors);
        }
    }
}

fn basic(amount: &Field, errors: &mut Errors) {
    if let Some(quantity) = amount.quantity().filter(|quantity| quantity.is_negative()) {
        let shown = quantity.rounded().to_string();
        errors.push(amount.invalid_as(shown, "must be a valid resource quantity"));
    }
}

fn resource_key(name: &str, list: &Field, errors: &mut Errors) {
    let before = errors.len();
    super::name::qualified(name, list.at(), errors);
    if errors.len() == before && resource_name::is_native(name) && name != "storage" {
        let error = list.not_supported(&["storage"]);
        let value = Some(crate::schema::go_value::quote(name));
        errors.push(crate::schema::FieldError { value, ..error });
    }
}
