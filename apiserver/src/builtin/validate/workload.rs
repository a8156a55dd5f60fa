//! Deployments, replica sets, stateful sets, daemon sets: selector and template belong together,
//! and the numbers of a strategy make sense.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{number, selector};
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, go_value},
};

/// A Deployment.
pub(super) fn deployment(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    common(spec, "deployment", at, errors);
    for field in ["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"]
    {
        number::not_negative(spec, field, at, errors);
    }
    let ready = path::number(spec, "minReadySeconds").unwrap_or_default();
    if let Some(deadline) = path::number(spec, "progressDeadlineSeconds").filter(|d| *d <= ready) {
        let at = at.child("progressDeadlineSeconds");
        errors.push(FieldError::invalid(
            &at,
            &json!(deadline),
            "must be greater than minReadySeconds",
        ));
    }
    strategy(&spec["strategy"], &at.child("strategy"), errors);
}

/// A `ReplicaSet`.
pub(super) fn replica_set(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    common(spec, "replicaset", at, errors);
    for field in ["replicas", "minReadySeconds"] {
        number::not_negative(spec, field, at, errors);
    }
}

/// A `StatefulSet`.
pub(super) fn stateful_set(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    common(spec, "statefulset", at, errors);
    for field in ["replicas", "minReadySeconds"] {
        number::not_negative(spec, field, at, errors);
    }
    let policy = &spec["podManagementPolicy"];
    if policy != "OrderedReady" && policy != "Parallel" {
        let detail = "must be 'OrderedReady' or 'Parallel'";
        errors.push(FieldError::invalid(&at.child("podManagementPolicy"), policy, detail));
    }
}

/// A `StatefulSet` as its pods will be: with a volume for each claim, and named by the controller.
pub(super) fn with_claims(object: &Value) -> Value {
    let mut object = object.clone();
    let claims = path::list(&object, "spec.volumeClaimTemplates");
    let names: BTreeSet<String> =
        claims.iter().map(|claim| path::text(claim, "metadata.name").to_owned()).collect();
    let claimed = names
        .iter()
        .map(|name| json!({ "name": name, "persistentVolumeClaim": { "claimName": name } }));
    let others = path::list(&object, "spec.template.spec.volumes").iter();
    let others = others.filter(|volume| !names.contains(path::text(volume, "name"))).cloned();
    let volumes: Vec<Value> = claimed.chain(others).collect();
    if !volumes.is_empty() {
        path::set(&mut object, "spec.template.spec.volumes", volumes);
    }
    path::remove(&mut object, "spec.template.spec.hostname");
    path::remove(&mut object, "spec.template.spec.subdomain");
    object
}

/// A `DaemonSet`.
pub(super) fn daemon_set(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    common(spec, "daemonset", at, errors);
    for field in ["minReadySeconds", "revisionHistoryLimit"] {
        number::not_negative(spec, field, at, errors);
    }
}

/// Refuses a template whose labels the selector does not match.
pub(super) fn template_labels(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let labels = path::get(spec, "template.metadata.labels").unwrap_or(&Value::Null);
    let none = Map::new();
    let map = labels.as_object().unwrap_or(&none);
    if !path::get(spec, "selector").is_some_and(|wanted| selector::matches(wanted, map)) {
        let at = at.child("template").child("metadata").child("labels");
        let detail = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(&at, labels, detail));
    }
}

fn common(spec: &Value, kind: &str, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let selector = path::get(spec, "selector");
    if selector.and_then(Value::as_object).is_some_and(Map::is_empty) {
        let detail = format!("empty selector is invalid for {kind}");
        errors.push(FieldError::invalid(&at.child("selector"), &json!({}), detail));
    } else if !errors.iter().any(|error| error.detail == "invalid label selector")
        && selector.is_none_or(is_well_formed)
    {
        template_labels(spec, at, errors);
    }
    let template = at.child("template").child("spec");
    let policy =
        path::get(spec, "template.spec.restartPolicy").filter(|policy| *policy != "Always");
    if let Some(policy) = policy {
        errors.push(FieldError::not_supported(
            &template.child("restartPolicy"),
            policy,
            ["Always"],
        ));
    }
    if let Some(seconds) = path::get(spec, "template.spec.activeDeadlineSeconds") {
        let _ = seconds;
        let detail = format!("activeDeadlineSeconds in {} is not Supported", display_name(kind));
        errors.push(FieldError::forbidden(&template.child("activeDeadlineSeconds"), detail));
    }
}

fn display_name(kind: &str) -> &'static str {
    match kind {
        "statefulset" => "StatefulSet",
        "daemonset" => "DaemonSet",
        _ => "ReplicaSet",
    }
}

fn is_well_formed(wanted: &Value) -> bool {
    let mut complaints = Vec::new();
    selector::check(wanted, &FieldPath::root(), &mut complaints);
    complaints.is_empty()
}

fn strategy(strategy: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let rolling = path::get(strategy, "rollingUpdate");
    match path::text(strategy, "type") {
        "RollingUpdate" => rolling_update(rolling, &at.child("rollingUpdate"), errors),
        "Recreate" if rolling.is_some() => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            errors.push(FieldError::forbidden(&at.child("rollingUpdate"), detail));
        }
        "Recreate" => {}
        other => {
            let supported = ["Recreate", "RollingUpdate"];
            let error = FieldError::not_supported(at, strategy, supported);
            let value = format!(r#"{{"Type":{},"RollingUpdate":null}}"#, go_value::quote(other));
            errors.push(FieldError { value: Some(value), ..error });
        }
    }
}

fn rolling_update(rolling: Option<&Value>, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let amount = |field| rolling.and_then(|rolling| rolling.get(field)).unwrap_or(&Value::Null);
    let is_zero = |value: &Value| *value == json!(0) || *value == json!("0%");
    let unavailable = amount("maxUnavailable");
    if is_zero(unavailable) && is_zero(amount("maxSurge")) {
        let detail = "may not be 0 when `maxSurge` is 0";
        errors.push(FieldError::invalid(&at.child("maxUnavailable"), unavailable, detail));
    }
}
