//! Endpoints: addresses and ports behind a service.

use std::net::IpAddr;

use super::super::{
    field::{Errors, Field},
    ip, number,
};
use crate::schema::name_rule;

/// The subsets of an object of kind `Endpoints`.
pub(in super::super) fn subsets(subsets: &Field, errors: &mut Errors) {
    for subset in subsets.items() {
        let lists = ["addresses", "notReadyAddresses"].map(|name| subset.child(name));
        if lists.iter().all(Field::is_empty) {
            errors.push(subset.required("must specify `addresses` or `notReadyAddresses`"));
        }
        for address in lists.iter().flat_map(Field::items) {
            self::address(&address, errors);
        }
        let ports = subset.child("ports");
        for port in ports.items() {
            self::port(&port, ports.len() > 1, errors);
        }
    }
}

fn address(address: &Field, errors: &mut Errors) {
    let own = address.string("ip");
    ip::address(&own, errors);
    address.string("hostname").follows_unless_empty(name_rule::dns_label, errors);
    if let Some(node) = address.given("nodeName") {
        node.follows(name_rule::dns_subdomain, errors);
    }
    is_reachable(&own, errors);
}

fn port(port: &Field, needs_name: bool, errors: &mut Errors) {
    let name = port.string("name");
    if needs_name {
        name.is_required("", errors);
    }
    name.follows_unless_empty(name_rule::dns_label, errors);
    let number = port.integer("port");
    number::port(number.value(), number.at(), errors);
    let protocol = port.string("protocol");
    protocol.is_required("", errors);
    if !protocol.is_empty() {
        protocol.is_one_of(&["SCTP", "TCP", "UDP"], errors);
    }
    if let Some(protocol) = port.given("appProtocol") {
        protocol.is_qualified(errors);
    }
}

/// Refuses addresses that other nodes cannot reach.
pub(super) fn is_reachable(address: &Field, errors: &mut Errors) {
    let text = address.text();
    let Some(parsed) = ip::parse(text) else {
        errors.push(address.invalid("must be a valid IP address"));
        return;
    };
    let (is_link_local, is_group) = match parsed {
        IpAddr::V4(v4) => (v4.is_link_local(), v4.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(v6) => {
            let first = v6.segments()[0];
            (v6.is_unicast_link_local(), first & 0xff0f == 0xff02)
        }
    };
    let checks = [
        (parsed.is_unspecified(), format!("may not be unspecified ({text})")),
        (
            parsed.is_loopback(),
            "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned(),
        ),
        (
            is_link_local,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned(),
        ),
        (
            is_group,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned(),
        ),
    ];
    for (_, detail) in checks.into_iter().filter(|(wrong, _)| *wrong) {
        errors.push(address.invalid(detail));
    }
}
