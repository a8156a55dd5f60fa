//! Ingresses: hosts, paths, and the backends that they lead to.

use super::super::{
    field::{Errors, Field},
    ip, number,
};
use crate::schema::{FieldPath, go_value::quote, name_rule};

const CLASS: &str = "kubernetes.io/ingress.class";

/// A new ingress: an old annotation must not contradict its class.
pub(in super::super) fn create(ingress: &Field, errors: &mut Errors) {
    spec(&ingress.child("spec"), errors);
    let annotation = ingress.child("metadata").child("annotations").child(CLASS);
    let class = ingress.child("spec").child("ingressClassName");
    if annotation.is_given() && class.is_given() && annotation.value() != class.value() {
        let annotation = annotation.named(FieldPath::new("annotations").child(CLASS));
        errors.push(annotation.invalid("must match `ingressClassName` when both are specified"));
    }
}

/// The specification of an ingress.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    let rules = spec.child("rules");
    let backend = spec.given("defaultBackend");
    if rules.is_empty() && backend.is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(rules.named(spec.at().clone()).invalid(detail));
    }
    if let Some(backend) = backend {
        self::backend(&backend, errors);
    }
    for rule in rules.items() {
        self::rule(&rule, errors);
    }
    for tls in spec.child("tls").items() {
        for host in tls.child("hosts").items() {
            self::host(&host, errors);
        }
        tls.string("secretName").follows_unless_empty(name_rule::dns_subdomain, errors);
    }
    if let Some(class) = spec.given("ingressClassName") {
        class.follows(name_rule::dns_subdomain, errors);
    }
}

/// A name, or all names below one.
fn host(host: &Field, errors: &mut Errors) {
    if host.text().contains('*') {
        host.follows(name_rule::wildcard_subdomain, errors);
    } else {
        host.follows(name_rule::dns_subdomain, errors);
    }
}

fn rule(rule: &Field, errors: &mut Errors) {
    let name = rule.string("host");
    if !name.is_empty() {
        if ip::parse(name.text()).is_some() {
            errors.push(name.invalid("must be a DNS name, not an IP address"));
        }
        host(&name, errors);
    }
    if let Some(http) = rule.given("http") {
        let paths = http.child("paths");
        paths.is_required("", errors);
        for path in paths.items() {
            self::path(&path, errors);
        }
    }
}

fn path(path: &Field, errors: &mut Errors) {
    let (ty, text) = (path.child("pathType"), path.string("path"));
    if !ty.is_given() {
        errors.push(ty.required("pathType must be specified"));
        return;
    }
    let is_absolute = text.text().starts_with('/');
    match ty.text() {
        "Exact" | "Prefix" => {
            if !is_absolute {
                errors.push(text.invalid("must be an absolute path"));
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"] {
                if text.text().contains(part) {
                    errors.push(text.invalid(format!("must not contain '{part}'")));
                }
            }
            for end in ["/..", "/."] {
                if text.text().ends_with(end) {
                    errors.push(text.invalid(format!("cannot end with '{end}'")));
                }
            }
        }
        "ImplementationSpecific" if !text.is_empty() && !is_absolute => {
            errors.push(text.invalid("must be an absolute path"));
        }
        "ImplementationSpecific" => {}
        _ => errors.push(ty.not_supported(&["Exact", "ImplementationSpecific", "Prefix"])),
    }
    backend(&path.child("backend"), errors);
}

/// A service or any other object, not both.
fn backend(backend: &Field, errors: &mut Errors) {
    match (backend.given("resource"), backend.given("service")) {
        (Some(_), Some(_)) => {
            let detail = "cannot set both resource and service backends";
            errors.push(backend.invalid_as(quote(""), detail));
        }
        (Some(resource), None) => reference(&resource, errors),
        (None, Some(service)) => service_backend(backend, &service, errors),
        (None, None) => {
            let detail = "resource or service backend is required";
            errors.push(backend.invalid_as(quote(""), detail));
        }
    }
}

fn service_backend(backend: &Field, service: &Field, errors: &mut Errors) {
    let name = service.string("name");
    name.is_required("", errors);
    name.follows_unless_empty(name_rule::dns_label, errors);
    let port = service.child("port");
    let (name, number) = (port.string("name"), port.integer("number"));
    match (name.is_empty(), number.number()) {
        (false, 0) => number::port_name(name.value(), name.at(), errors),
        (false, _) => {
            let detail = "cannot set both port name & port number";
            errors.push(backend.invalid_as(quote(""), detail));
        }
        (true, 0) => errors.push(backend.required("port name or number is required")),
        (true, _) => number::port(number.value(), number.at(), errors),
    }
}

/// An object by group, kind and name.
pub(super) fn reference(reference: &Field, errors: &mut Errors) {
    if let Some(group) = reference.given("apiGroup") {
        group.follows(name_rule::dns_subdomain, errors);
    }
    for field in ["kind", "name"] {
        let field = reference.string(field);
        field.is_required("", errors);
        field.follows_unless_empty(name_rule::path_segment, errors);
    }
}
