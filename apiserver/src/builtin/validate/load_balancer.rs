//! What only services with a way in from outside may say.

use serde_json::{Value, json};

use super::{declared, number};
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, name_rule},
};

/// Source ranges, class and traffic policy, which other types of services must not have.
pub(super) fn spec(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let is_balanced = path::text(spec, "type") == "LoadBalancer";
    source_ranges(spec, is_balanced, &at.child("LoadBalancerSourceRanges"), errors);
    let only = "may only be used when `type` is 'LoadBalancer'";
    if !is_balanced && path::get(spec, "allocateLoadBalancerNodePorts").is_some() {
        errors.push(FieldError::forbidden(&at.child("allocateLoadBalancerNodePorts"), only));
    }
    if let Some(class) = path::get(spec, "loadBalancerClass") {
        let at = at.child("loadBalancerClass");
        if is_balanced {
            for detail in name_rule::label_key(class.as_str().unwrap_or_default()) {
                errors.push(FieldError::invalid(&at, class, detail));
            }
        } else {
            errors.push(FieldError::forbidden(&at, only));
        }
    }
    traffic(spec, at, errors);
    health_check(spec, is_balanced, &at.child("healthCheckNodePort"), errors);
}

fn source_ranges(spec: &Value, is_balanced: bool, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let ranges = path::list(spec, "loadBalancerSourceRanges");
    if !ranges.is_empty() && !is_balanced {
        let detail = "may only be used when `type` is 'LoadBalancer'";
        errors.push(FieldError::forbidden(at, detail));
    }
    for (index, range) in ranges.iter().enumerate() {
        let range = range.as_str().unwrap_or_default().trim();
        if !is_cidr(range) {
            let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            errors.push(FieldError::invalid(&at.index(index), &json!(range), detail));
        }
    }
}

/// Whether the text is an address and the length of its prefix.
pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Ok(address) = address.parse::<std::net::IpAddr>() else { return false };
    let most = if address.is_ipv4() { 32 } else { 128 };
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    is_number && length.parse::<u8>().is_ok_and(|length| length <= most)
}

fn traffic(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let policy = path::text(spec, "externalTrafficPolicy");
    let is_accessible = match path::text(spec, "type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !path::list(spec, "externalIPs").is_empty(),
        _ => false,
    };
    if is_accessible {
        declared::listed(spec, "externalTrafficPolicy", &["Cluster", "Local"], at, errors);
    } else if !policy.is_empty() {
        let detail = "may only be set for externally-accessible services";
        let at = at.child("externalTrafficPolicy");
        errors.push(FieldError::invalid(&at, &json!(policy), detail));
    }
}

fn health_check(spec: &Value, is_balanced: bool, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(port) = path::get(spec, "healthCheckNodePort").filter(|port| **port != json!(0))
    else {
        return;
    };
    if is_balanced && path::text(spec, "externalTrafficPolicy") == "Local" {
        number::port(port, at, errors);
    } else {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` \
                      is 'Local'";
        errors.push(FieldError::invalid(at, port, detail));
    }
}
