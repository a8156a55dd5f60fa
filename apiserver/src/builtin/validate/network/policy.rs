//! Network policies: which pods may talk to whom.

use super::super::{
    field::{Errors, Field},
    ip, number, selector,
};

/// The specification of a policy.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    selector::check(&spec.child("podSelector"), errors);
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.child(rules).items() {
            for port in rule.child("ports").items() {
                self::port(&port, errors);
            }
            for peer in rule.child(peers).items() {
                self::peer(&peer, errors);
            }
        }
    }
    let types = spec.child("policyTypes");
    if types.len() > 2 {
        errors.push(types.invalid("may not specify more than two policyTypes"));
        return;
    }
    for ty in types.items() {
        ty.is_one_of(&["Ingress", "Egress"], errors);
    }
}

fn port(port: &Field, errors: &mut Errors) {
    if let Some(protocol) = port.given("protocol") {
        protocol.is_one_of(&["TCP", "UDP", "SCTP"], errors);
    }
    let (first, last) = (port.child("port"), port.child("endPort"));
    if first.value().is_string() {
        if last.is_given() {
            errors.push(last.invalid("may not be specified when `port` is non-numeric"));
        }
        number::port_name(first.value(), first.at(), errors);
    } else if first.is_given() {
        number::port(first.value(), first.at(), errors);
        if last.is_given() {
            if last.number() < first.number() {
                errors.push(last.invalid("must be greater than or equal to `port`"));
            }
            number::port(last.value(), last.at(), errors);
        }
    } else if last.is_given() {
        errors.push(last.invalid("may not be specified when `port` is not specified"));
    }
}

fn peer(peer: &Field, errors: &mut Errors) {
    let selectors = ["podSelector", "namespaceSelector"].map(|name| peer.given(name));
    for labels in selectors.iter().flatten() {
        selector::check(labels, errors);
    }
    let block = peer.given("ipBlock");
    if let Some(block) = &block {
        self::block(block, errors);
    }
    let selects = selectors.iter().flatten().count();
    match (selects, block) {
        (0, None) => errors.push(peer.required("must specify a peer")),
        (1.., Some(_)) => {
            errors.push(peer.forbidden("may not specify both ipBlock and another peer"));
        }
        _ => {}
    }
}

/// A range of addresses without some smaller ones.
fn block(block: &Field, errors: &mut Errors) {
    let whole = block.string("cidr");
    if whole.is_empty() {
        errors.push(whole.required(""));
        return;
    }
    ip::range(&whole, errors);
    let Some(range) = ip::parse_range(whole.text()) else { return };
    for except in block.child("except").items() {
        ip::range(&except, errors);
        let Some((address, length)) = ip::parse_range(except.text()) else { continue };
        if !ip::contains(range, address) || range.1 >= length {
            errors.push(except.invalid("must be a strict subset of `cidr`"));
        }
    }
}
