//! Endpoint slices: addresses of one family, ports with different names, hints of where to use them.

use super::{
    super::{
        field::{Errors, Field},
        immutable, ip, selector,
    },
    endpoints,
};
use crate::schema::{go_value::quote, name_rule};

/// A slice of the endpoints of a service.
pub(in super::super) fn slice(slice: &Field, errors: &mut Errors) {
    head(slice, errors);
    endpoints(slice, errors);
}

/// The successor of a slice: endpoints that stay as they are, are not judged again. Its family never changes.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    head(new, errors);
    if new.child("endpoints").value() != old.child("endpoints").value() {
        endpoints(new, errors);
    }
    immutable::declared(new, old, "addressType", errors);
}

fn head(slice: &Field, errors: &mut Errors) {
    let family = slice.string("addressType");
    family.is_required("", errors);
    if !family.is_empty() {
        family.is_one_of(&["FQDN", "IPv4", "IPv6"], errors);
    }
    ports(&slice.child("ports"), errors);
}

fn endpoints(slice: &Field, errors: &mut Errors) {
    let family = slice.string("addressType");
    let endpoints = slice.child("endpoints");
    if endpoints.len() > 1000 {
        errors.push(endpoints.too_many(1000));
        return;
    }
    for endpoint in endpoints.items() {
        one(&endpoint, family.text(), errors);
    }
}

fn ports(ports: &Field, errors: &mut Errors) {
    if ports.len() > 20_000 {
        errors.push(ports.too_many(20_000));
        return;
    }
    let mut names = Vec::new();
    for port in ports.items() {
        let name = port.string("name");
        name.follows_unless_empty(name_rule::dns_label, errors);
        if names.contains(&name.text()) {
            errors.push(name.duplicate());
        } else {
            names.push(name.text());
        }
        let protocol = port.child("protocol");
        if protocol.is_given() {
            protocol.is_one_of(&["SCTP", "TCP", "UDP"], errors);
        } else {
            errors.push(protocol.required(""));
        }
        if let Some(protocol) = port.given("appProtocol") {
            protocol.is_qualified(errors);
        }
    }
}

fn one(endpoint: &Field, family: &str, errors: &mut Errors) {
    let addresses = endpoint.child("addresses");
    addresses.is_required("", errors);
    if addresses.len() > 100 {
        errors.push(addresses.too_many(100));
    }
    for address in addresses.items() {
        match family {
            "IPv4" | "IPv6" => of_family(&addresses, &address, family, errors),
            "FQDN" => full_name(&address, errors),
            _ => {}
        }
    }
    if let Some(node) = endpoint.given("nodeName") {
        node.follows(name_rule::dns_subdomain, errors);
    }
    let topology = endpoint.child("deprecatedTopology");
    selector::labels(&topology, errors);
    if let Some(host) = endpoint.given("hostname") {
        host.follows(name_rule::dns_label, errors);
    }
    if let Some(hints) = endpoint.given("hints") {
        self::hints(&hints, errors);
    }
}

fn of_family(addresses: &Field, address: &Field, family: &str, errors: &mut Errors) {
    let Some(parsed) = ip::parse(address.text()) else {
        ip::address(address, errors);
        return;
    };
    if parsed.is_ipv4() != (family == "IPv4") {
        let detail = format!("must be an {family} address");
        errors.push(address.named(addresses.at().clone()).invalid(detail));
    }
    endpoints::is_reachable(address, errors);
}

fn full_name(address: &Field, errors: &mut Errors) {
    if address.is_empty() {
        errors.push(address.required(""));
        return;
    }
    let name = address.text().strip_suffix('.').unwrap_or(address.text());
    let details = name_rule::dns_subdomain(name, false);
    if !details.is_empty() {
        errors.push(address.invalid_as(quote(name), details.join(",")));
        return;
    }
    if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(address.invalid_as(quote(name), detail));
        return;
    }
    let wrong = name.split('.').map(|label| (label, name_rule::dns_label(label, false)));
    if let Some((label, details)) = wrong.into_iter().find(|(_, details)| !details.is_empty()) {
        errors.push(address.invalid_as(quote(label), details.join(",")));
    }
}

fn hints(hints: &Field, errors: &mut Errors) {
    for (list, is_zone) in [("forZones", true), ("forNodes", false)] {
        let list = hints.child(list);
        if list.len() > 8 {
            errors.push(list.too_many(8));
            return;
        }
        let mut known = Vec::new();
        for hint in list.items() {
            let name = hint.string("name");
            if known.contains(&name.text()) {
                errors.push(name.duplicate());
            } else {
                known.push(name.text());
            }
            let details = if is_zone {
                name_rule::label_value(name.text())
            } else {
                name_rule::dns_subdomain(name.text(), false)
            };
            errors.extend(details.into_iter().map(|detail| name.invalid(detail)));
        }
    }
}
