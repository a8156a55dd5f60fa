//! Ingresses, network policies, endpoint slices: their basics.

use serde_json::{Value, json};

use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, name_rule},
};

/// An ingress leads somewhere.
pub(super) fn ingress(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let backend = path::get(spec, "defaultBackend");
    if backend.is_none() && path::list(spec, "rules").is_empty() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid(at, &Value::Null, detail));
    }
    if let Some(chosen) = backend {
        backend_rules(chosen, &at.child("defaultBackend"), errors);
    }
}

/// The host of a rule is a name.
pub(super) fn rule(rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let host = path::text(rule, "host");
    let complaints = match host.strip_prefix("*.") {
        _ if host.is_empty() => Vec::new(),
        Some(rest) => name_rule::dns_subdomain(rest, false),
        None => name_rule::dns_subdomain(host, false),
    };
    for detail in complaints {
        errors.push(FieldError::invalid(&at.child("host"), &json!(host), detail));
    }
}

/// A path of a rule and where it leads.
pub(super) fn path(value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let text = path::text(value, "path");
    let needs_path = matches!(path::text(value, "pathType"), "Exact" | "Prefix");
    if !text.starts_with('/') && (needs_path || !text.is_empty()) {
        let detail = "must be an absolute path";
        errors.push(FieldError::invalid(&at.child("path"), &json!(text), detail));
    }
    backend_rules(&value["backend"], &at.child("backend"), errors);
}

/// A network policy is for ingress, egress or both.
pub(super) fn policy(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, given) in path::list(spec, "policyTypes").iter().enumerate() {
        if given != "Ingress" && given != "Egress" {
            let at = at.child("policyTypes").index(index);
            errors.push(FieldError::not_supported(&at, given, ["Ingress", "Egress"]));
        }
    }
}

/// The addresses of an endpoint slice are of its type.
pub(super) fn endpoint_slice(slice: &Value, errors: &mut Vec<FieldError>) {
    let family = path::text(slice, "addressType");
    for (index, endpoint) in path::list(slice, "endpoints").iter().enumerate() {
        let at = FieldPath::new("endpoints").index(index).child("addresses");
        for (index, address) in path::list(endpoint, "addresses").iter().enumerate() {
            let text = address.as_str().unwrap_or_default();
            if family != "FQDN" && text.parse::<std::net::IpAddr>().is_err() {
                let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
                errors.push(FieldError::invalid(&at.index(index), address, detail));
            }
        }
    }
}

fn backend_rules(backend: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let service = path::get(backend, "service");
    if service.is_none() && path::get(backend, "resource").is_none() {
        let detail = "resource or service backend is required";
        errors.push(FieldError::invalid(at, &json!(""), detail));
    }
    let Some(service) = service else { return };
    let number = path::number(service, "port.number").unwrap_or_default();
    if path::text(service, "port.name").is_empty() && number == 0 {
        errors.push(FieldError::required(at, "port name or number is required"));
    }
}
