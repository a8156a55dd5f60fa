//! Names of resources (`cpu`, `example.com/gpu`) and the amounts that each may have.

use serde_json::json;

use super::field::{Errors, Field};
use crate::schema::{FieldError, FieldPath, name_rule};

/// Resources of a container without a domain.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Resources without a domain that a quota may limit.
const OF_QUOTAS: [&str; 19] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

/// Resources that are counted.
const WHOLE: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// The name of any resource. Whether it is one.
pub(super) fn any(name: &str, at: &FieldPath, errors: &mut Errors) -> bool {
    let details = name_rule::label_key(name);
    let is_name = details.is_empty();
    errors.extend(details.into_iter().map(|detail| FieldError::invalid(at, &json!(name), detail)));
    let is_known = name.contains('/') || name == "storage" || is_of_quota(name);
    if is_name && !is_known {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(at, &json!(name), detail));
    }
    is_name && is_known
}

/// The name of a resource that containers have.
pub(super) fn of_container(name: &str, at: &FieldPath, errors: &mut Errors) {
    any(name, at, errors);
    let detail = if !name.contains('/') {
        if OF_CONTAINERS.contains(&name) || is_huge_page(name) {
            return;
        }
        "must be a standard resource for containers"
    } else if is_native(name) || is_extended(name) {
        return;
    } else {
        "doesn't follow extended resource name standard"
    };
    errors.push(FieldError::invalid(at, &json!(name), detail));
}

/// The name of a resource that quotas limit.
pub(super) fn of_quota(name: &str, at: &FieldPath, errors: &mut Errors) {
    any(name, at, errors);
    if !name.contains('/') && !is_of_quota(name) {
        let detail = "must be a standard resource for quota";
        errors.push(FieldError::invalid(at, &json!(name), detail));
    }
}

/// How much there may be of a resource.
pub(super) fn amount(name: &str, amount: &Field, errors: &mut Errors) {
    let Some(quantity) = amount.quantity() else { return };
    if quantity.is_negative() {
        errors.push(amount.invalid("must be greater than or equal to 0"));
    }
    if (WHOLE.contains(&name) || is_extended(name)) && !quantity.is_whole() {
        errors.push(amount.invalid("must be an integer"));
    }
}

/// Whether a quota may limit this resource, which has no domain.
pub(super) fn is_of_quota(name: &str) -> bool {
    OF_QUOTAS.contains(&name) || is_huge_page(name) || name.starts_with("requests.hugepages-")
}

pub(super) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Whether limits may be above requests.
pub(super) fn may_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

pub(super) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && name_rule::label_key(&format!("requests.{name}")).is_empty()
}
