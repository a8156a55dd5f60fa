//! Services: ports, names of ports, cluster addresses.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{declared::listed, load_balancer, number, selector};
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, name_rule},
};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/// What holds for every service, in the order in which the real server says it.
pub(super) fn spec(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let ports = path::list(spec, "ports");
    let (is_external, is_headless) =
        (path::text(spec, "type") == "ExternalName", path::text(spec, "clusterIP") == "None");
    if ports.is_empty() && !is_external && !is_headless {
        errors.push(FieldError::required(&at.child("ports"), ""));
    }
    exclusions(spec, at, errors);
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.child("ports").index(index);
        service_port(port, ports.len() > 1, &mut names, &at, errors);
    }
    selector::labels(spec.get("selector"), &at.child("selector"), errors);
    affinity(spec, at, errors);
    families(spec, at, errors);
    cluster_ips(spec, at, errors);
    for (index, address) in path::list(spec, "externalIPs").iter().enumerate() {
        ip_address(address, &at.child("externalIPs").index(index), errors);
    }
    listed(spec, "type", &TYPES, at, errors);
    if path::text(spec, "type") == "ClusterIP" {
        no_node_ports(ports, &at.child("ports"), errors);
    }
    duplicates(ports, &at.child("ports"), errors);
    load_balancer::spec(spec, at, errors);
}

/// The address of a service is immutable as long as its type has one.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let first = |service| path::list(service, "spec.clusterIPs").first().cloned();
    let has_address = |service| path::text(service, "spec.type") != "ExternalName";
    let (Some(before), true, true) = (first(old), has_address(old), has_address(new)) else {
        return;
    };
    if first(new) != Some(before) {
        let at = FieldPath::new("spec.clusterIPs").index(0);
        let value = path::get(new, "spec.clusterIPs").unwrap_or(&Value::Null);
        errors.push(FieldError::invalid(&at, value, "may not change once set"));
    }
}

/// What types of services exclude each other.
fn exclusions(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let kind = path::text(spec, "type");
    match kind {
        "LoadBalancer" | "NodePort" if path::text(spec, "clusterIP") == "None" => {
            let detail = format!("may not be set to 'None' for {kind} services");
            let at = at.child("clusterIPs").index(0);
            errors.push(FieldError::invalid(&at, &json!("None"), detail));
        }
        "ExternalName" => {
            for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                let is_set = match path::get(spec, field) {
                    Some(Value::Array(list)) => !list.is_empty(),
                    given => given.is_some(),
                };
                if is_set {
                    let detail = "may not be set for ExternalName services";
                    errors.push(FieldError::forbidden(&at.child(field), detail));
                }
            }
            external_name(path::text(spec, "externalName"), &at.child("externalName"), errors);
        }
        _ => {}
    }
}

fn external_name(given: &str, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = given.strip_suffix('.').unwrap_or(given);
    if name.is_empty() {
        errors.push(FieldError::required(at, ""));
        return;
    }
    for detail in name_rule::dns_subdomain(name, false) {
        errors.push(FieldError::invalid(at, &json!(name), detail));
    }
}

fn affinity(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    listed(spec, "sessionAffinity", &["ClientIP", "None"], at, errors);
    let at = at.child("sessionAffinityConfig");
    match (path::text(spec, "sessionAffinity"), path::get(spec, "sessionAffinityConfig")) {
        ("ClientIP", Some(config)) => {
            let timeout = path::number(config, "clientIP.timeoutSeconds");
            if let Some(seconds) = timeout.filter(|seconds| !(1..=86_400).contains(seconds)) {
                let at = at.child("clientIP").child("timeoutSeconds");
                let detail = "must be greater than 0 and less than 86400";
                errors.push(FieldError::invalid(&at, &json!(seconds), detail));
            }
        }
        ("None", Some(_)) => {
            let detail = "must not be set when session affinity is None";
            errors.push(FieldError::forbidden(&at, detail));
        }
        _ => {}
    }
}

fn families(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let families = path::list(spec, "ipFamilies");
    for (index, family) in families.iter().enumerate() {
        let at = at.child("ipFamilies").index(index);
        if !["IPv4", "IPv6"].contains(&family.as_str().unwrap_or_default()) {
            errors.push(FieldError::not_supported(&at, family, ["IPv4", "IPv6"]));
        } else if families[..index].contains(family) {
            errors.push(FieldError::duplicate(&at, family));
        }
    }
}

fn no_node_ports(ports: &[Value], at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, port) in ports.iter().enumerate() {
        if path::number(port, "nodePort").is_some_and(|number| number != 0) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            errors.push(FieldError::forbidden(&at.index(index).child("nodePort"), detail));
        }
    }
}

fn ip_address(address: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if address.as_str().unwrap_or_default().parse::<std::net::IpAddr>().is_err() {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        errors.push(FieldError::invalid(at, address, detail));
    }
}

fn service_port<'a>(
    port: &'a Value,
    needs_name: bool,
    names: &mut BTreeSet<&'a str>,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let name = path::text(port, "name");
    if name.is_empty() && needs_name {
        errors.push(FieldError::required(&at.child("name"), ""));
    } else if !name.is_empty() {
        for detail in name_rule::dns_label(name, false) {
            errors.push(FieldError::invalid(&at.child("name"), &json!(name), detail));
        }
        if !names.insert(name) {
            errors.push(FieldError::duplicate(&at.child("name"), &json!(name)));
        }
    }
    number::port(port.get("port").unwrap_or(&json!(0)), &at.child("port"), errors);
    number::port_or_name(port, "targetPort", at, errors);
    if let Some(protocol) = path::get(port, "appProtocol") {
        for detail in name_rule::label_key(protocol.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(&at.child("appProtocol"), protocol, detail));
        }
    }
}

fn duplicates(ports: &[Value], at: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut numbers = BTreeSet::new();
    node_port_duplicates(ports, at, errors);
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let (protocol, number) = (path::text(port, "protocol"), path::number(port, "port"));
        if !numbers.insert((protocol, number)) {
            let value = format!(
                r#"{{"Name":"","Protocol":"{protocol}","AppProtocol":null,"Port":{},"TargetPort":0,"NodePort":0}}"#,
                number.unwrap_or_default()
            );
            let duplicate = FieldError::duplicate(&at, &Value::Null);
            errors.push(FieldError { value: Some(value), ..duplicate });
        }
    }
}

fn node_port_duplicates(ports: &[Value], at: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut numbers = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let Some(number) = path::number(port, "nodePort").filter(|number| *number != 0) else {
            continue;
        };
        if !numbers.insert((path::text(port, "protocol"), number)) {
            let at = at.index(index).child("nodePort");
            errors.push(FieldError::duplicate(&at, &json!(number)));
        }
    }
}

fn cluster_ips(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let (single, list) = (path::text(spec, "clusterIP"), &spec["clusterIPs"]);
    if path::list(spec, "clusterIPs").first().is_some_and(|first| first != single) {
        let detail = match single {
            "" => "must be empty when `clusterIP` is not specified",
            _ => "first value must match `clusterIP`",
        };
        errors.push(FieldError::invalid(&at.child("clusterIPs"), list, detail));
    }
    for (index, given) in path::list(spec, "clusterIPs").iter().enumerate() {
        let text = given.as_str().unwrap_or_default();
        if text != "None" && text.parse::<std::net::IpAddr>().is_err() {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            errors.push(FieldError::invalid(&at.child("clusterIPs").index(index), given, detail));
        }
    }
}
