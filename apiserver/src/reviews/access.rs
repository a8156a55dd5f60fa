//! Answers whether somebody may do something, and what they may do.

use serde_json::{Value, json};

use crate::{
    log::Log,
    rbac::{Attributes, Authorizer, Decision, MissingRole, ResourceTarget, Target, joined},
    status::StatusError,
    users::{MASTERS, User},
};

const WHY_ALLOWED: &str =
    "the embedded API server has no authorization rules: its user may do everything";
const WHY_NOT: &str = "the embedded API server has one user, and this is another one";

/// Whether the sender of a review may do something.
pub(super) fn own(authorizer: &Authorizer, log: &Log, user: &User, spec: &Value) -> Value {
    if !authorizer.is_enforced() {
        return status(&Decision { allowed: true, reason: WHY_ALLOWED.to_owned() });
    }
    status(&authorizer.decide(log, user, &attributes(spec)))
}

/// Whether the user that a review names may do something.
pub(super) fn of_subject(authorizer: &Authorizer, log: &Log, spec: &Value) -> Value {
    let user = subject(spec);
    if !authorizer.is_enforced() {
        let allowed = user.name == User::admin().name || user.is_in(MASTERS);
        let reason = if allowed { WHY_ALLOWED } else { WHY_NOT };
        return json!({ "allowed": allowed, "reason": reason });
    }
    status(&authorizer.decide(log, &user, &attributes(spec)))
}

/// The rules of the sender of a review in a namespace.
pub(super) fn rules(
    authorizer: &Authorizer,
    log: &Log,
    user: &User,
    spec: &Value,
) -> Result<Value, StatusError> {
    let namespace = text(&spec["namespace"]);
    if namespace.is_empty() {
        return Err(StatusError::bad_request("no namespace on request"));
    }
    let (rules, missing) = authorizer.rules(log, user, &namespace);
    let (mut of_resources, mut of_urls) = (Vec::new(), Vec::new());
    for [of_resource, of_url] in rules.iter().map(crate::rbac::Rule::info) {
        of_resources.extend(of_resource);
        of_urls.extend(of_url);
    }
    let mut status = json!({
        "resourceRules": of_resources,
        "nonResourceRules": of_urls,
        "incomplete": false,
    });
    if let Some(errors) = joined(missing.iter().map(MissingRole::shown)) {
        status["evaluationError"] = errors.into();
    }
    Ok(status)
}

fn status(decision: &Decision) -> Value {
    let mut status = json!({ "allowed": decision.allowed });
    if !decision.reason.is_empty() {
        status["reason"] = json!(decision.reason);
    }
    status
}

/// The user that a review names, in no other groups than it names.
fn subject(spec: &Value) -> User {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(text).collect()
    };
    let extra = spec["extra"].as_object().into_iter().flatten();
    User {
        name: text(&spec["user"]),
        uid: text(&spec["uid"]),
        groups: texts(&spec["groups"]),
        extra: extra.map(|(key, values)| (key.clone(), texts(values))).collect(),
    }
}

fn attributes(spec: &Value) -> Attributes {
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    if !resource.is_object() {
        return Attributes { verb: text(&path["verb"]), target: Target::Path(text(&path["path"])) };
    }
    let target = ResourceTarget {
        group: text(&resource["group"]),
        resource: text(&resource["resource"]),
        subresource: text(&resource["subresource"]),
        namespace: text(&resource["namespace"]),
        name: text(&resource["name"]),
    };
    Attributes::resource(&text(&resource["verb"]), target)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
