//! Ingresses, network policies, endpoint slices: their basics.

use serde_json::{Value, json};

use super::load_balancer::is_cidr;
use crate::{
    builtin::path,
    schema::{
        FieldError, FieldPath,
        name_rule::{self, NameRule},
    },
};

/// An ingress leads somewhere.
pub(super) fn ingress(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let backend = path::get(spec, "defaultBackend");
    if backend.is_none() && path::list(spec, "rules").is_empty() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid(at, &Value::Null, detail));
    }
    if let Some(class) = path::get(spec, "ingressClassName") {
        for detail in name_rule::dns_subdomain(class.as_str().unwrap_or_default(), false) {
            errors.push(FieldError::invalid(&at.child("ingressClassName"), class, detail));
        }
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
    if path::text(value, "pathType").is_empty() {
        return;
    }
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

/// The hosts and the secret of encrypted connections.
pub(super) fn tls(tls: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, host) in path::list(tls, "hosts").iter().enumerate() {
        let text = host.as_str().unwrap_or_default();
        for detail in name_rule::dns_subdomain(text.strip_prefix("*.").unwrap_or(text), false) {
            errors.push(FieldError::invalid(&at.child("hosts").index(index), host, detail));
        }
    }
    name(tls, "secretName", name_rule::dns_subdomain, at, errors);
}

/// A peer of a network policy is something.
pub(super) fn peer(peer: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let kinds = ["podSelector", "namespaceSelector", "ipBlock"];
    let given: Vec<&str> =
        kinds.into_iter().filter(|kind| path::get(peer, kind).is_some()).collect();
    if given.is_empty() {
        errors.push(FieldError::required(at, "must specify a peer"));
    } else if given.len() > 1 && given.contains(&"ipBlock") {
        let detail = "may not specify both ipBlock and another peer";
        errors.push(FieldError::forbidden(at, detail));
    }
}

/// The addresses of a peer.
pub(super) fn block(block: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    let whole = path::text(block, "cidr");
    if whole.is_empty() {
        return;
    }
    if !is_cidr(whole) {
        errors.push(FieldError::invalid(&at.child("cidr"), &json!(whole), detail));
        return;
    }
    for (index, except) in path::list(block, "except").iter().enumerate() {
        if !is_cidr(except.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(&at.child("except").index(index), except, detail));
        }
    }
}

/// The names of an endpoint.
pub(super) fn endpoint(endpoint: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let rules: [(&str, NameRule); 2] =
        [("hostname", name_rule::dns_label), ("nodeName", name_rule::dns_subdomain)];
    for (field, rule) in rules {
        let Some(given) = path::get(endpoint, field) else { continue };
        for detail in rule(given.as_str().unwrap_or_default(), false) {
            errors.push(FieldError::invalid(&at.child(field), given, detail));
        }
    }
}

/// A name that may be left out.
fn name(object: &Value, field: &str, rule: NameRule, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = path::text(object, field);
    for detail in if name.is_empty() { Vec::new() } else { rule(name, false) } {
        errors.push(FieldError::invalid(&at.child(field), &json!(name), detail));
    }
}

fn backend_rules(backend: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let service = path::get(backend, "service");
    if service.is_none() && path::get(backend, "resource").is_none() {
        let detail = "resource or service backend is required";
        errors.push(FieldError::invalid(at, &json!(""), detail));
    }
    if let Some(resource) = path::get(backend, "resource") {
        name(resource, "apiGroup", name_rule::dns_subdomain, &at.child("resource"), errors);
    }
    let Some(service) = service else { return };
    name(service, "name", name_rule::dns_1035_label, &at.child("service"), errors);
    let number = path::number(service, "port.number").unwrap_or_default();
    if path::text(service, "port.name").is_empty() && number == 0 {
        errors.push(FieldError::required(at, "port name or number is required"));
    }
}
