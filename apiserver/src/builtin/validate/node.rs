//! Nodes: taints, ranges for pods, and the few fields that never change.

use std::{collections::BTreeSet, net::IpAddr};

use super::{
    field::{Errors, Field},
    ip,
    pod::toleration::EFFECTS,
    resource_name, shown,
};
use crate::schema::{FieldError, FieldPath, name_rule};

/// What holds for a node whenever it is written.
pub(super) fn node(node: &Field, errors: &mut Errors) {
    let spec = node.child("spec");
    taints(&spec.child("taints"), errors);
    amounts(node, errors);
    ranges(&spec.child("podCIDRs"), errors);
}

/// The successor of a node, also of its status.
pub(super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    amounts(new, errors);
    addresses(&new.child("status").child("addresses"), errors);
    let (after, before) = (new.child("spec"), old.child("spec"));
    let (new, old) = (after.child("podCIDRs"), before.child("podCIDRs"));
    if !old.is_empty() && new.value() != old.value() {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        errors.push(new.forbidden(detail));
    }
    let (new, old) = (after.string("providerID"), before.string("providerID"));
    if !old.is_empty() && new.text() != old.text() {
        let verb = if new.is_empty() { "cleared" } else { "modified" };
        let detail = format!("field cannot be {verb} once set");
        errors.push(new.invalid_as("null".to_owned(), detail));
    }
    taints(&after.child("taints"), errors);
    let external = after.string("externalID");
    if external.text() != before.string("externalID").text() {
        errors.push(external.forbidden("may not be updated"));
    }
}

/// The real server calls the place of taints `metadata`.
fn taints(list: &Field, errors: &mut Errors) {
    let list = list.named(FieldPath::new("metadata.taints"));
    let mut known = BTreeSet::new();
    for taint in list.items() {
        let [key, value, effect] = ["key", "value", "effect"].map(|name| taint.string(name));
        key.is_qualified(errors);
        let details = name_rule::label_value(value.text());
        if !details.is_empty() {
            errors.push(value.invalid(details.join(";")));
        }
        effect.is_required("", errors);
        if !effect.is_empty() {
            effect.is_one_of(&EFFECTS, errors);
        }
        if !known.insert((key.text(), effect.text())) {
            let print = shown::go("core.Taint", taint.value());
            let detail = "taints must be unique by key and effect pair".to_owned();
            errors.push(FieldError { value: Some(print), detail, ..taint.duplicate() });
        }
    }
}

/// Amounts of resources; the real server names each as a field.
fn amounts(node: &Field, errors: &mut Errors) {
    for field in ["capacity", "allocatable"] {
        let list = node.child("status").child(field);
        for (name, amount) in list.entries() {
            resource_name::amount(name, &amount.named(list.at().child(name)), errors);
        }
    }
}

fn ranges(list: &Field, errors: &mut Errors) {
    let ranges = list.items();
    for range in &ranges {
        ip::range(range, errors);
    }
    let families: Vec<IpAddr> =
        ranges.iter().filter_map(|range| Some(ip::parse_range(range.text())?.0)).collect();
    if ranges.len() > 1 && (families.len() < ranges.len() || ip::has_same_family(&families)) {
        errors.push(list.invalid("may specify no more than one CIDR for each IP family"));
    }
}

fn addresses(list: &Field, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for address in list.items() {
        let text = |name| address.string(name).text();
        if !known.insert((text("type"), text("address"))) {
            let print = shown::go("core.NodeAddress", address.value());
            errors.push(FieldError { value: Some(print), ..address.duplicate() });
        }
    }
}
