//! The immutable fields of each type.

use serde_json::Value;

use super::{claim, pod, rbac, selector, service};
use crate::{
    builtin::{catalog::BuiltinType, path},
    schema::{FieldError, FieldPath},
};

/// Compares an object with its predecessor.
pub(super) fn check(ty: &BuiltinType, new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    for field in immutable_fields(ty) {
        immutable(new, old, field, errors);
    }
    match (ty.group, ty.kind) {
        ("", "Pod") => pod::update(new, old, errors),
        ("", "Service") => service::update(new, old, errors),
        ("", "PersistentVolumeClaim") => claim::update(new, old, errors),
        ("", "ConfigMap") => frozen(new, old, &["data", "binaryData"], errors),
        ("", "Secret") => frozen(new, old, &["data"], errors),
        ("apps", "StatefulSet") => stateful_set(new, old, errors),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            rbac::update(new, old, errors);
        }
        _ => {}
    }
}

fn immutable_fields(ty: &BuiltinType) -> &'static [&'static str] {
    match (ty.group, ty.kind) {
        ("apps", "Deployment" | "ReplicaSet" | "DaemonSet") => &["spec.selector"],
        ("batch", "Job") => {
            &["spec.completions", "spec.selector", "spec.template", "spec.completionMode"]
        }
        ("", "Secret") => &["type"],
        ("storage.k8s.io", "StorageClass") => {
            &["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"]
        }
        ("discovery.k8s.io", "EndpointSlice") => &["addressType"],
        _ => &[],
    }
}

fn immutable(new: &Value, old: &Value, field: &str, errors: &mut Vec<FieldError>) {
    if is_suspended_template(old, field) {
        return;
    }
    let value = path::get(new, field);
    if value != path::get(old, field) {
        let value = value.unwrap_or(&Value::Null);
        let mut error = FieldError::invalid(&FieldPath::new(field), value, "field is immutable");
        if field == "spec.selector" && value.is_object() {
            error.value = Some(selector::print(value));
        }
        errors.push(error);
    }
}

/// The template of a job that was suspended before it started may still change.
fn is_suspended_template(old: &Value, field: &str) -> bool {
    field == "spec.template"
        && path::flag(old, "spec.suspend")
        && path::get(old, "status.startTime").is_none()
}

fn frozen(new: &Value, old: &Value, fields: &[&str], errors: &mut Vec<FieldError>) {
    if !path::flag(old, "immutable") {
        return;
    }
    let mut refuse = |field: &str| {
        let detail = "field is immutable when `immutable` is set";
        errors.push(FieldError::forbidden(&FieldPath::new(field), detail));
    };
    if !path::flag(new, "immutable") {
        refuse("immutable");
    }
    for field in fields.iter().filter(|field| path::get(new, field) != path::get(old, field)) {
        refuse(field);
    }
}

fn stateful_set(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let mut expected = old.clone();
    for field in [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ] {
        path::copy(&mut expected, new, &format!("spec.{field}"));
    }
    if expected["spec"] != new["spec"] {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
                      'template', 'updateStrategy', 'revisionHistoryLimit', \
                      'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        errors.push(FieldError::forbidden(&FieldPath::new("spec"), detail));
    }
}
