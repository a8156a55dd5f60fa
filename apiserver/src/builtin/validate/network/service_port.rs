//! Ports of services: numbers, names, and that no two are the same.

use std::collections::BTreeSet;

use super::super::{
    field::{Errors, Field},
    number,
};
use crate::schema::{FieldError, name_rule};

/// Each port; with several, each has a name.
pub(super) fn all(ports: &Field, errors: &mut Errors) {
    let needs_name = ports.len() > 1;
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.string("name");
        if needs_name {
            name.is_required("", errors);
        }
        name.follows_unless_empty(name_rule::dns_label, errors);
        if !name.is_empty() && !names.insert(name.text()) {
            errors.push(name.duplicate());
        }
        let own = port.integer("port");
        number::port(own.value(), own.at(), errors);
        let protocol = port.string("protocol");
        protocol.is_required("", errors);
        if !protocol.is_empty() {
            protocol.is_one_of(&["SCTP", "TCP", "UDP"], errors);
        }
        let target = port.integer("targetPort");
        if target.value().is_string() {
            number::port_name(target.value(), target.at(), errors);
        } else {
            number::port(target.value(), target.at(), errors);
        }
        if let Some(protocol) = port.given("appProtocol") {
            protocol.is_qualified(errors);
        }
    }
}

/// No port twice; a service that is inside only has none on nodes.
pub(super) fn unique(ports: &Field, is_inside: bool, errors: &mut Errors) {
    let ports = ports.items();
    let on_nodes = |port: &Field| port.integer("nodePort").number() != 0;
    if is_inside {
        for port in ports.iter().filter(|port| on_nodes(port)) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            errors.push(port.child("nodePort").forbidden(detail));
        }
    }
    let protocol = |port: &Field| port.string("protocol").text().to_owned();
    let mut known = BTreeSet::new();
    for port in ports.iter().filter(|port| on_nodes(port)) {
        let number = port.integer("nodePort");
        if !known.insert((protocol(port), number.number())) {
            errors.push(number.duplicate());
        }
    }
    let mut known = BTreeSet::new();
    for port in &ports {
        let (protocol, number) = (protocol(port), port.integer("port").number());
        if !known.insert((protocol.clone(), number)) {
            let shown = format!(
                r#"{{"Name":"","Protocol":"{protocol}","AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0}}"#
            );
            errors.push(FieldError { value: Some(shown), ..port.duplicate() });
        }
    }
}
