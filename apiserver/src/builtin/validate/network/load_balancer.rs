//! What only services with a way in from outside may say.

use super::super::{
    field::{Errors, Field},
    ip, number,
};
use crate::schema::{FieldPath, go_value::quote};

const ONLY: &str = "may only be used when `type` is 'LoadBalancer'";
const RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

/// Source ranges, class and traffic policy, which other types of services must not have.
pub(super) fn spec(service: &Field, errors: &mut Errors) {
    let spec = service.child("spec");
    let is_balanced = spec.string("type").text() == "LoadBalancer";
    source_ranges(service, is_balanced, errors);
    let allocates = spec.child("allocateLoadBalancerNodePorts");
    if is_balanced && !allocates.is_given() {
        let at = FieldPath::new("allocateLoadBalancerNodePorts");
        errors.push(allocates.named(at).required(""));
    } else if !is_balanced && allocates.is_given() {
        errors.push(allocates.forbidden(ONLY));
    }
    class(&spec, is_balanced, errors);
    traffic(&spec, errors);
    health_check(&spec, errors);
}

/// The class of a balancer never changes, nor does the port of its health check.
pub(super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let is_balanced = |spec: &Field| spec.string("type").text() == "LoadBalancer";
    let own = new.child("loadBalancerClass");
    let both = is_balanced(new) && is_balanced(old);
    if both && own.value() != old.child("loadBalancerClass").value() {
        errors.push(own.invalid("may not change once set"));
    }
    class(new, is_balanced(new), errors);
    let port = new.child("healthCheckNodePort");
    let changed = port.value() != old.child("healthCheckNodePort").value();
    if is_checked(new) && is_checked(old) && changed {
        errors.push(port.forbidden("field is immutable"));
    }
}

fn class(spec: &Field, is_balanced: bool, errors: &mut Errors) {
    let Some(class) = spec.given("loadBalancerClass") else { return };
    if is_balanced {
        class.is_qualified(errors);
    } else {
        errors.push(class.forbidden(ONLY));
    }
}

/// Ranges may be padded with spaces, and may stand in an annotation.
fn source_ranges(service: &Field, is_balanced: bool, errors: &mut Errors) {
    let spec = service.child("spec");
    let at = spec.at().child("LoadBalancerSourceRanges");
    let ranges = spec.child("loadBalancerSourceRanges").named(at);
    if !ranges.is_empty() {
        if !is_balanced {
            errors.push(ranges.forbidden(ONLY));
        }
        for range in ranges.items() {
            one_range(&range, range.text().trim(), errors);
        }
        return;
    }
    let annotations = service.child("metadata").child("annotations");
    let Some(annotation) = annotations.given(RANGES) else { return };
    let annotation = annotation.named(annotations.at().key(RANGES));
    if !is_balanced {
        errors.push(annotation.forbidden(ONLY));
    }
    let text = annotation.text().trim();
    for range in text.split(',').filter(|_| !text.is_empty()) {
        one_range(&annotation, range.trim(), errors);
    }
}

fn one_range(named: &Field, range: &str, errors: &mut Errors) {
    if ip::parse_range(range).is_none() {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        errors.push(named.invalid_as(quote(range), detail));
    }
}

fn traffic(spec: &Field, errors: &mut Errors) {
    let policy = spec.string("externalTrafficPolicy");
    let is_accessible = match spec.string("type").text() {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.child("externalIPs").is_empty(),
        _ => false,
    };
    if is_accessible {
        policy.is_required("", errors);
        if !policy.is_empty() {
            policy.is_one_of(&["Cluster", "Local"], errors);
        }
    } else if !policy.is_empty() {
        errors.push(policy.invalid("may only be set for externally-accessible services"));
    }
}

fn is_checked(spec: &Field) -> bool {
    spec.string("type").text() == "LoadBalancer"
        && spec.string("externalTrafficPolicy").text() == "Local"
}

fn health_check(spec: &Field, errors: &mut Errors) {
    let port = spec.integer("healthCheckNodePort");
    match (is_checked(spec), port.number()) {
        // The real server allocates a port before it asks for one.
        (_, 0) => {}
        (false, _) => {
            let detail = "may only be set when `type` is 'LoadBalancer' and \
                          `externalTrafficPolicy` is 'Local'";
            errors.push(port.invalid(detail));
        }
        (true, _) => number::port(port.value(), port.at(), errors),
    }
}
