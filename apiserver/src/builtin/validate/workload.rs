//! Deployments, replica sets, stateful sets, daemon sets: selector and template belong together,
//! and the numbers of a strategy make sense.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{number, selector};
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, go_value, name_rule},
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
    update_strategy(spec, &["partition", "maxUnavailable"], at, errors);
    let service = path::text(spec, "serviceName");
    for detail in if service.is_empty() { Vec::new() } else { name_rule::dns_label(service, false) }
    {
        errors.push(FieldError::invalid(&at.child("serviceName"), &json!(service), detail));
    }
    let at = at.child("persistentVolumeClaimRetentionPolicy");
    for field in ["whenDeleted", "whenScaled"] {
        let given = path::get(&spec["persistentVolumeClaimRetentionPolicy"], field);
        if let Some(given) = given.filter(|given| **given != "Retain" && **given != "Delete") {
            errors.push(FieldError::not_supported(&at.child(field), given, ["Retain", "Delete"]));
        }
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
    update_strategy(spec, &["maxUnavailable", "maxSurge"], at, errors);
    let is_rolling = path::text(spec, "updateStrategy.type") == "RollingUpdate";
    if let Some(rolling) = path::get(spec, "updateStrategy.rollingUpdate").filter(|_| is_rolling) {
        let at = at.child("updateStrategy").child("rollingUpdate");
        rolling_daemons(rolling, &at, errors);
    }
}

/// What follows from the selector of a workload, once it is checked itself: that it is none, or that
/// the template does not match it.
pub(super) fn selected(of: &str, spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let (kind, detail) = match of {
        // The real server says it of replica sets too.
        "apps.v1.DeploymentSpec" | "apps.v1.ReplicaSetSpec" => {
            ("deployment", Some("invalid label selector"))
        }
        "apps.v1.DaemonSetSpec" => ("daemonset", None),
        "apps.v1.StatefulSetSpec" => ("statefulset", Some("")),
        _ => return,
    };
    let at_selector = at.child("selector");
    let Some(selector) = path::get(spec, "selector") else {
        return template_labels(spec, at, errors);
    };
    if selector.as_object().is_some_and(Map::is_empty) {
        let detail = format!("empty selector is invalid for {kind}");
        errors.push(FieldError::invalid(&at_selector, &json!({}), detail));
    } else if errors.iter().any(|error| error.path.starts_with(&at_selector.to_string())) {
        errors.extend(detail.map(|detail| {
            let error = FieldError::invalid(&at_selector, selector, detail);
            FieldError { value: Some(selector::print(selector)), ..error }
        }));
    } else {
        template_labels(spec, at, errors);
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
            // The defaults are filled in before the type is known to be wrong; the real server has none.
            let defaults = json!({ "maxSurge": "25%", "maxUnavailable": "25%" });
            let rolling = rolling.filter(|rolling| **rolling != defaults).map_or_else(
                || "null".to_owned(),
                |rolling| {
                    let field = |name: &str| go_value::print(&rolling[name]);
                    let (unavailable, surge) = (field("maxUnavailable"), field("maxSurge"));
                    format!(r#"{{"MaxUnavailable":{unavailable},"MaxSurge":{surge}}}"#)
                },
            );
            let other = go_value::quote(other);
            let value = format!(r#"{{"Type":{other},"RollingUpdate":{rolling}}}"#);
            errors.push(FieldError { value: Some(value), ..error });
        }
    }
}

/// How pods are replaced; `shown` are the fields of a rolling update, as messages show it.
fn update_strategy(spec: &Value, shown: &[&str], at: &FieldPath, errors: &mut Vec<FieldError>) {
    let strategy = &spec["updateStrategy"];
    let kind = path::text(strategy, "type");
    if matches!(kind, "" | "RollingUpdate" | "OnDelete") {
        return;
    }
    let rolling = path::get(strategy, "rollingUpdate").map_or_else(
        || "null".to_owned(),
        |rolling| {
            let field = |name: &&str| {
                let (first, rest) = name.split_at(1);
                format!("\"{}{rest}\":{}", first.to_uppercase(), go_value::print(&rolling[*name]))
            };
            format!("{{{}}}", shown.iter().map(field).collect::<Vec<_>>().join(","))
        },
    );
    let at = at.child("updateStrategy");
    let error = if shown[0] == "partition" {
        let detail = "must be 'RollingUpdate' or 'OnDelete'";
        FieldError::invalid(&at, &Value::Null, detail)
    } else {
        FieldError::not_supported(&at, &Value::Null, ["RollingUpdate", "OnDelete"])
    };
    let value = format!(r#"{{"Type":{},"RollingUpdate":{rolling}}}"#, go_value::quote(kind));
    errors.push(FieldError { value: Some(value), ..error });
}

/// Pods of a daemon set are replaced before or after the new one is there, not both.
fn rolling_daemons(rolling: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let fields = ["maxUnavailable", "maxSurge"];
    for field in fields {
        number::amount(rolling, field, at, errors);
    }
    let amount = |field| rolling.get(field).unwrap_or(&Value::Null);
    let is_zero = |value: &Value| *value == json!(0) || *value == json!("0%");
    match fields.map(|field| is_zero(amount(field))) {
        [true, true] => {
            let detail = "cannot be 0 when maxSurge is 0";
            errors.push(FieldError::required(&at.child("maxUnavailable"), detail));
        }
        [false, false] => {
            let detail = "may not be set when maxUnavailable is non-zero";
            errors.push(FieldError::invalid(&at.child("maxSurge"), amount("maxSurge"), detail));
        }
        _ => {}
    }
    for field in fields {
        number::at_most_all(rolling, field, at, errors);
    }
}

fn rolling_update(rolling: Option<&Value>, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let amount = |field| rolling.and_then(|rolling| rolling.get(field)).unwrap_or(&Value::Null);
    let is_zero = |value: &Value| *value == json!(0) || *value == json!("0%");
    let unavailable = amount("maxUnavailable");
    for field in ["maxUnavailable", "maxSurge"] {
        number::amount(rolling.unwrap_or(&Value::Null), field, at, errors);
    }
    if is_zero(unavailable) && is_zero(amount("maxSurge")) {
        let detail = "may not be 0 when `maxSurge` is 0";
        errors.push(FieldError::invalid(&at.child("maxUnavailable"), unavailable, detail));
    }
    number::at_most_all(rolling.unwrap_or(&Value::Null), "maxUnavailable", at, errors);
}
