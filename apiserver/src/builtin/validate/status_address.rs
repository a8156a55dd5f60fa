//! Addresses in a status: of pods, of nodes, and of what a load balancer gives.

use std::{collections::BTreeSet, net::IpAddr};

use serde_json::{Value, json};

use crate::{
    builtin::{path, quantity::Quantity},
    schema::{FieldError, FieldPath, go_value::quote, name_rule},
};

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/// The addresses and conditions of a pod; its quality of service never changes.
pub(super) fn pod(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let at = FieldPath::new("status");
    let class = path::text(new, "status.qosClass");
    if class != path::text(old, "status.qosClass") {
        let at = at.child("qosClass");
        errors.push(FieldError::invalid(&at, &json!(class), "field is immutable"));
    }
    pod_addresses(path::list(new, "status.podIPs"), &at.child("podIPs"), errors);
    for (index, condition) in path::list(new, "status.conditions").iter().enumerate() {
        let kind = path::text(condition, "type");
        for detail in name_rule::label_key(kind) {
            let at = at.child("conditions").index(index).child("Type");
            errors.push(FieldError::invalid(&at, &json!(kind), detail));
        }
    }
}

/// Addresses are unique, and amounts are not negative.
pub(super) fn node(status: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut known = BTreeSet::new();
    for (index, address) in path::list(status, "addresses").iter().enumerate() {
        let (kind, text) = (path::text(address, "type"), path::text(address, "address"));
        if !known.insert((kind, text)) {
            let at = at.child("addresses").index(index);
            let value = format!(r#"{{"Type":{},"Address":{}}}"#, quote(kind), quote(text));
            let error = FieldError::duplicate(&at, &Value::Null);
            errors.push(FieldError { value: Some(value), ..error });
        }
    }
    for field in ["capacity", "allocatable"] {
        let amounts = status.get(field).and_then(Value::as_object).into_iter().flatten();
        for (name, amount) in amounts {
            if Quantity::of(amount).is_some_and(Quantity::is_negative) {
                let detail = "must be greater than or equal to 0";
                errors.push(FieldError::invalid(&at.child(field).child(name), amount, detail));
            }
        }
    }
}

/// Only a service that asks for a load balancer is given one.
pub(super) fn service(service: &Value, errors: &mut Vec<FieldError>) {
    let at = FieldPath::new("status.loadBalancer");
    let given = &service["status"]["loadBalancer"];
    let is_balanced = path::text(service, "spec.type") == "LoadBalancer";
    if !is_balanced && !path::list(given, "ingress").is_empty() {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        errors.push(FieldError::forbidden(&at.child("ingress"), detail));
        return;
    }
    for (at, entry) in entries(given, &at) {
        balanced_address(entry, &at, errors);
        let has_address = !path::text(entry, "ip").is_empty();
        match path::get(entry, "ipMode") {
            None if has_address => {
                let detail = "must be specified when `ip` is set";
                errors.push(FieldError::required(&at.child("ipMode"), detail));
            }
            Some(_) if !has_address => {
                let detail = "may not be specified when `ip` is not set";
                errors.push(FieldError::forbidden(&at.child("ipMode"), detail));
            }
            Some(mode) if mode != "VIP" && mode != "Proxy" => {
                let at = at.child("ipMode");
                errors.push(FieldError::not_supported(&at, mode, ["Proxy", "VIP"]));
            }
            _ => {}
        }
    }
}

/// The addresses of an ingress.
pub(super) fn ingress(ingress: &Value, errors: &mut Vec<FieldError>) {
    let at = FieldPath::new("status.loadBalancer");
    for (at, entry) in entries(&ingress["status"]["loadBalancer"], &at) {
        balanced_address(entry, &at, errors);
    }
}

fn entries<'a>(
    balancer: &'a Value,
    at: &FieldPath,
) -> impl Iterator<Item = (FieldPath, &'a Value)> {
    let at = at.child("ingress");
    let entries = path::list(balancer, "ingress").iter().enumerate();
    entries.map(move |(index, entry)| (at.index(index), entry))
}

fn balanced_address(entry: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let (address, host) = (path::text(entry, "ip"), path::text(entry, "hostname"));
    if !address.is_empty() && address.parse::<IpAddr>().is_err() {
        errors.push(FieldError::invalid(&at.child("ip"), &json!(address), NO_ADDRESS));
    }
    if host.is_empty() {
        return;
    }
    for detail in name_rule::dns_subdomain(host, false) {
        errors.push(FieldError::invalid(&at.child("hostname"), &json!(host), detail));
    }
    if host.parse::<IpAddr>().is_ok() {
        let detail = "must be a DNS name, not an IP address";
        errors.push(FieldError::invalid(&at.child("hostname"), &json!(host), detail));
    }
}

fn pod_addresses(addresses: &[Value], at: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut families = BTreeSet::new();
    let mut repeated = false;
    for (index, address) in addresses.iter().enumerate() {
        let text = path::text(address, "ip");
        match text.parse::<IpAddr>() {
            Ok(address) => repeated |= !families.insert(address.is_ipv4()),
            Err(_) => errors.push(FieldError::invalid(&at.index(index), &json!(text), NO_ADDRESS)),
        }
    }
    if repeated {
        let shown: Vec<String> = addresses
            .iter()
            .map(|address| format!(r#"{{"IP":{}}}"#, quote(path::text(address, "ip"))))
            .collect();
        let detail = "may specify no more than one IP for each IP family";
        let error = FieldError::invalid(at, &Value::Null, detail);
        errors.push(FieldError { value: Some(format!("[{}]", shown.join(","))), ..error });
    }
}
