//! The ranges that services get their addresses from, and single addresses of them.

use std::net::IpAddr;

use super::super::{
    field::{Errors, Field},
    immutable, ip, shown,
};
use crate::schema::name_rule;

/// What an `IPAddress` belongs to.
pub(in super::super) fn address(spec: &Field, errors: &mut Errors) {
    let parent = spec.child("parentRef");
    if !parent.is_given() {
        errors.push(parent.required(""));
        return;
    }
    parent.string("group").follows_unless_empty(name_rule::dns_subdomain, errors);
    for field in ["resource", "name"] {
        let field = parent.string(field);
        field.is_required("", errors);
        field.follows_unless_empty(name_rule::path_segment, errors);
    }
    parent.string("namespace").follows_unless_empty(name_rule::path_segment, errors);
}

/// An address never belongs to something else.
pub(in super::super) fn address_update(new: &Field, old: &Field, errors: &mut Errors) {
    immutable::declared(new, old, "spec.parentRef", errors);
}

/// The ranges of a `ServiceCIDR`.
pub(in super::super) fn ranges(spec: &Field, errors: &mut Errors) {
    let list = spec.child("cidrs");
    let ranges = list.items();
    match ranges.len() {
        0 => errors.push(list.required("at least one CIDR required")),
        1 | 2 => {
            for range in &ranges {
                ip::canonical_range(range, errors);
            }
            let families: Vec<IpAddr> =
                ranges.iter().filter_map(|r| Some(ip::parse_range(r.text())?.0)).collect();
            if ip::has_same_family(&families) {
                let detail = "may specify no more than one IP for each IP family, i.e \
                              192.168.0.0/24 and 2001:db8::/64";
                errors.push(list.invalid(detail));
            }
        }
        _ => {
            let print = shown::go("networking.ServiceCIDRSpec", spec.value());
            errors.push(list.invalid_as(print, "may only hold up to 2 values"));
        }
    }
}

/// A range never changes; a second one of the other family may be added.
pub(in super::super) fn ranges_update(new: &Field, old: &Field, errors: &mut Errors) {
    let list = new.child("spec").child("cidrs");
    let (after, before) = (list.items(), old.child("spec").child("cidrs").items());
    if after.len() == before.len() {
        for (new, old) in after.iter().zip(&before) {
            if new.text() != old.text() {
                errors.push(new.invalid(immutable::DETAIL));
            }
        }
    } else if before.len() == 1 && after.len() == 2 {
        if after[0].text() != before[0].text() {
            errors.push(after[0].invalid(immutable::DETAIL));
        }
        ranges(&new.child("spec"), errors);
    } else {
        errors.push(list.invalid(immutable::DETAIL));
    }
}
