//! Services: ports, names of ports, cluster addresses.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{number, selector};
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, name_rule},
};

/// What holds for every service.
pub(super) fn spec(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let ports = path::list(spec, "ports");
    let is_external = path::text(spec, "type") == "ExternalName";
    if ports.is_empty() && !is_external && path::text(spec, "clusterIP") != "None" {
        errors.push(FieldError::required(&at.child("ports"), ""));
    }
    if is_external && path::text(spec, "externalName").is_empty() {
        errors.push(FieldError::required(&at.child("externalName"), ""));
    }
    selector::labels(spec.get("selector"), &at.child("selector"), errors);
    cluster_ips(spec, at, errors);
    for (index, port) in ports.iter().enumerate() {
        service_port(port, ports.len() > 1, &at.child("ports").index(index), errors);
    }
    duplicates(ports, &at.child("ports"), errors);
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

fn service_port(port: &Value, needs_name: bool, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = path::text(port, "name");
    if name.is_empty() && needs_name {
        errors.push(FieldError::required(&at.child("name"), ""));
    } else if !name.is_empty() {
        for detail in name_rule::dns_label(name, false) {
            errors.push(FieldError::invalid(&at.child("name"), &json!(name), detail));
        }
    }
    number::port(port.get("port").unwrap_or(&json!(0)), &at.child("port"), errors);
    number::port_or_name(port, "targetPort", at, errors);
}

fn duplicates(ports: &[Value], at: &FieldPath, errors: &mut Vec<FieldError>) {
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = path::text(port, "name");
        if !name.is_empty() && !names.insert(name) {
            errors.push(FieldError::duplicate(&at.child("name"), &json!(name)));
        }
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
