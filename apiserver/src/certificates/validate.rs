//! Which requests for certificates are refused.
//!
//! A change of an approval in a status is refused without the difference, which the real server prints as Go.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use super::{pem, request::Request, usage};
use crate::{
    builtin,
    resource::Subresource,
    schema::{FieldError, FieldErrorKind, FieldPath, name_rule},
};

const SHORTEST: i64 = 600;
const LEGACY: &str = "kubernetes.io/legacy-unknown";
const DECISIONS: [&str; 2] = ["Approved", "Denied"];

/// Why a new request is refused; empty when it is not.
pub(crate) fn validate_create(object: &Value) -> Vec<FieldError> {
    let spec = FieldPath::new("spec");
    let mut errors = Vec::new();
    if let Err(why) = Request::of(object) {
        let request = object["spec"].get("request").filter(|request| *request != "");
        let request = request.unwrap_or(&Value::Null);
        errors.push(FieldError::invalid(&spec.child("request"), request, why));
    }
    errors.extend(usage_errors(&object["spec"], &spec.child("usages")));
    errors.extend(signer_errors(&object["spec"]["signerName"], &spec.child("signerName")));
    let seconds = &object["spec"]["expirationSeconds"];
    if seconds.as_i64().is_some_and(|seconds| seconds < SHORTEST) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(FieldError::invalid(&spec.child("expirationSeconds"), seconds, detail));
    }
    errors
}

/// Why the successor of `old` is refused; empty when it is not.
pub(crate) fn validate_update(new: &Value, old: &Value, part: Subresource) -> Vec<FieldError> {
    let at = FieldPath::new("status").child("conditions");
    let mut errors = condition_errors(new, old, &at);
    errors.extend(certificate_error(new, old));
    for kind in ["Approved", "Denied", "Failed"] {
        if of_type(new, kind).len() < of_type(old, kind).len() {
            let detail = format!("updates may not remove a condition of type {kind:?}");
            errors.push(FieldError::forbidden(&at, detail));
        }
    }
    if part != Subresource::Approval {
        errors.extend(DECISIONS.iter().filter_map(|kind| decision_error(new, old, kind, &at)));
    }
    let certificate =
        |object: &Value| object["status"]["certificate"].as_str().unwrap_or_default().to_owned();
    let at = FieldPath::new("status").child("certificate");
    if certificate(new) != certificate(old) {
        if part != Subresource::Status {
            errors.push(FieldError::forbidden(&at, "updates may not set certificate content"));
        } else if !certificate(old).is_empty() {
            let detail = "updates may not modify existing certificate content";
            errors.push(FieldError::forbidden(&at, detail));
        }
    }
    errors
}

/// Keeps the decisions about a request, which a status does not change, and completes the times.
pub(crate) fn prepare_status(new: &mut Value, old: &Value, now: &str) {
    for kind in DECISIONS {
        let kept: Vec<Value> = of_type(old, kind).into_iter().cloned().collect();
        let same = of_type(new, kind).len() == kept.len();
        let list = new
            .pointer_mut("/status/conditions")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten();
        let present = list.filter(|condition| condition["type"] == kind && same);
        present.zip(kept).for_each(|(present, kept)| *present = kept);
    }
    builtin::complete_conditions(new, old, now);
}

fn usage_errors(spec: &Value, at: &FieldPath) -> Vec<FieldError> {
    let usages = spec["usages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if usages.is_empty() {
        return vec![FieldError::required(at, "")];
    }
    let unknown = usages.iter().enumerate().filter_map(|(index, usage)| {
        let is_known = usage.as_str().is_some_and(|usage| usage::ALL.contains(&usage));
        (!is_known).then(|| FieldError::not_supported(&at.index(index), usage, usage::ALL))
    });
    let repeated = usages.iter().enumerate().filter(|(at, usage)| usages[..*at].contains(*usage));
    let twice = repeated.map(|(index, usage)| FieldError::duplicate(&at.index(index), usage));
    unknown.chain(twice).collect()
}

fn signer_errors(name: &Value, at: &FieldPath) -> Vec<FieldError> {
    let text = name.as_str().unwrap_or_default();
    let invalid = |value: &str, detail: String| FieldError::invalid(at, &json!(value), detail);
    if text == LEGACY {
        let detail = "the legacy signerName is not allowed via this API version".to_owned();
        return vec![invalid(text, detail)];
    }
    if text.is_empty() {
        return vec![FieldError::required(at, "")];
    }
    let segments: Vec<&str> = text.split('/').collect();
    let [domain, path] = segments.as_slice() else {
        let detail =
            "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return vec![invalid(text, detail.to_owned())];
    };
    let wrong = |whole: &str, rule: fn(&str) -> Vec<String>| -> Vec<FieldError> {
        let mut labels = whole.split('.').map(|label| (label, rule(label)));
        let first = labels.find(|(_, faults)| !faults.is_empty());
        let (label, faults) = first.unwrap_or_default();
        let message =
            |fault: String| invalid(whole, format!("validating label {label:?}: {fault}"));
        faults.into_iter().map(message).collect()
    };
    let mut errors = wrong(domain, |label| name_rule::dns_label(label, false));
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(invalid(domain, detail.to_owned()));
    }
    errors.extend(wrong(path, |label| name_rule::dns_subdomain(label, false)));
    errors
}

fn condition_errors(new: &Value, old: &Value, at: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let conditions = new["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let both = |object: &Value| DECISIONS.iter().all(|kind| !of_type(object, kind).is_empty());
    for (index, condition) in conditions.iter().enumerate() {
        let at_this = at.index(index);
        let kind = condition["type"].as_str().unwrap_or_default();
        if kind.is_empty() {
            errors.push(FieldError::required(&at_this.child("type"), ""));
        }
        let statuses: &[&str] = match kind {
            "Approved" | "Denied" | "Failed" => &["True"],
            _ => &["False", "True", "Unknown"],
        };
        let status = &condition["status"];
        match status.as_str().unwrap_or_default() {
            "" => errors.push(FieldError::required(&at_this.child("status"), "")),
            given if statuses.contains(&given) => {}
            _ => errors.push(FieldError::not_supported(
                &at_this.child("status"),
                status,
                statuses.iter().copied(),
            )),
        }
        let before = &conditions[..index];
        let other = DECISIONS.iter().find(|decision| **decision != kind);
        let excluded = DECISIONS.contains(&kind)
            && before.iter().any(|before| other.is_some_and(|other| before["type"] == *other));
        if excluded && !both(old) {
            let detail = "Approved and Denied conditions are mutually exclusive";
            errors.push(FieldError::invalid(at, &json!(kind), detail));
        }
        if before.iter().any(|before| before["type"] == condition["type"]) {
            errors.push(FieldError::duplicate(&at_this.child("type"), &condition["type"]));
        }
    }
    errors
}

/// A decision is made by an approval alone.
fn decision_error(new: &Value, old: &Value, kind: &str, at: &FieldPath) -> Option<FieldError> {
    let (now, before) = (of_type(new, kind), of_type(old, kind));
    let verb = match now.len().cmp(&before.len()) {
        std::cmp::Ordering::Less => return None,
        std::cmp::Ordering::Greater => "add",
        std::cmp::Ordering::Equal if now == before => return None,
        std::cmp::Ordering::Equal => "modify",
    };
    Some(FieldError::forbidden(at, format!("updates may not {verb} a condition of type {kind:?}")))
}

fn certificate_error(new: &Value, old: &Value) -> Option<FieldError> {
    let encoded = new["status"]["certificate"].as_str().unwrap_or_default();
    if encoded.is_empty() || new["status"]["certificate"] == old["status"]["certificate"] {
        return None;
    }
    let text = BASE64_STANDARD.decode(encoded).unwrap_or_default();
    let detail = certificate_fault(&String::from_utf8_lossy(&text))?;
    Some(FieldError {
        path: "status.certificate".to_owned(),
        kind: FieldErrorKind::Invalid,
        value: Some("\"<certificate data>\"".to_owned()),
        detail,
    })
}

fn certificate_fault(text: &str) -> Option<String> {
    let blocks = pem::blocks(text);
    for block in &blocks {
        if block.label != "CERTIFICATE" {
            let found = &block.label;
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {found:?}"));
        }
        if block.has_headers {
            return Some("no PEM block headers are permitted".to_owned());
        }
        if block.bytes.is_empty() {
            return Some("found CERTIFICATE PEM block containing 0 certificates".to_owned());
        }
        if X509Certificate::from_der(&block.bytes).is_err() {
            return Some("x509: malformed certificate".to_owned());
        }
    }
    let none = "must contain at least one CERTIFICATE PEM block";
    blocks.is_empty().then(|| none.to_owned())
}

fn of_type<'a>(object: &'a Value, kind: &str) -> Vec<&'a Value> {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.filter(|condition| condition["type"] == kind).collect()
}
