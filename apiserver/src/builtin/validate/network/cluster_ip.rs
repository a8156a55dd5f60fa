//! The addresses that a service has within the cluster, and their families.

use std::net::IpAddr;

use super::super::{
    field::{Errors, Field},
    ip,
};

/// Whether a service has no address on purpose.
pub(in super::super) fn is_headless(spec: &Field) -> bool {
    matches!(spec.child("clusterIPs").items().as_slice(), [only] if only.text() == "None")
}

/// Addresses, families and their policy.
pub(super) fn addresses(spec: &Field, errors: &mut Errors) {
    let (single, list) = (spec.string("clusterIP"), spec.child("clusterIPs"));
    let given = list.items();
    match (single.is_empty(), given.first()) {
        (false, None) => errors.push(list.required("")),
        (false, Some(first)) if first.text() != single.text() => {
            errors.push(list.invalid("first value must match `clusterIP`"));
        }
        (true, Some(_)) => {
            errors.push(list.invalid("must be empty when `clusterIP` is not specified"));
        }
        _ => {}
    }
    families(spec, errors);
    if let Some(policy) = spec.given("ipFamilyPolicy") {
        policy.is_one_of(&["PreferDualStack", "RequireDualStack", "SingleStack"], errors);
    }
    let before = errors.len();
    for (index, address) in given.iter().enumerate() {
        if index == 0 && address.text() == "None" {
            if given.len() > 1 {
                errors.push(list.invalid("'None' must be the first and only value"));
            }
        } else {
            ip::address(address, errors);
        }
    }
    let is_wrong = errors.len() > before;
    if given.len() > 2 {
        errors.push(list.invalid("may only hold up to 2 values"));
    }
    if !is_wrong {
        of_families(spec, &list, &given, errors);
    }
}

fn families(spec: &Field, errors: &mut Errors) {
    let families = spec.child("ipFamilies").items();
    for (index, family) in families.iter().enumerate() {
        family.is_one_of(&["IPv4", "IPv6"], errors);
        if families[..index].iter().any(|other| other.text() == family.text()) {
            errors.push(family.duplicate());
        }
    }
}

fn of_families(spec: &Field, list: &Field, given: &[Field], errors: &mut Errors) {
    let addresses: Vec<IpAddr> = given.iter().filter_map(|a| ip::parse(a.text())).collect();
    if given.len() > 1 && (addresses.len() != given.len() || ip::has_same_family(&addresses)) {
        errors.push(list.invalid("may specify no more than one IP for each IP family"));
    }
    if is_headless(spec) {
        return;
    }
    let families = spec.child("ipFamilies").items();
    for (index, (address, family)) in given.iter().zip(&families).enumerate() {
        let is_six = ip::parse(address.text()).is_some_and(|address| address.is_ipv6());
        let is_other = match family.text() {
            "IPv4" => is_six,
            "IPv6" => !is_six,
            _ => false,
        };
        if is_other {
            let family = family.text();
            let detail =
                format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            errors.push(address.invalid(detail));
        }
    }
}

/// The first address and the first family stay as they are.
pub(super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let has_address = |spec: &Field| {
        ["ClusterIP", "NodePort", "LoadBalancer"].contains(&spec.string("type").text())
    };
    if !has_address(new) || !has_address(old) {
        return;
    }
    if !(is_headless(new) && is_headless(old)) {
        kept_addresses(new, old, errors);
    }
    if !is_headless(new) && !is_headless(old) {
        kept_families(new, old, errors);
    }
}

fn kept_addresses(new: &Field, old: &Field, errors: &mut Errors) {
    let list = new.child("clusterIPs");
    let (after, before) = (list.items(), old.child("clusterIPs").items());
    let shown = list.clone();
    let mut refuse = |index: usize, detail: &str| {
        errors.push(shown.named(list.at().index(index)).invalid(detail));
    };
    if after.len() == before.len() {
        for (index, (new, old)) in after.iter().zip(&before).enumerate() {
            if new.text() != old.text() {
                refuse(index, "may not change once set");
            }
        }
        return;
    }
    if after.is_empty() {
        refuse(0, "primary clusterIP can not be unset");
    }
    let first = |list: &[Field]| list.first().map(|field| field.text().to_owned());
    if !after.is_empty() && !before.is_empty() && first(&after) != first(&before) {
        refuse(0, "may not change once set");
    }
    if after.len() == 1 && before.len() > 1 {
        released(new, "clusterIP", errors);
    }
}

fn kept_families(new: &Field, old: &Field, errors: &mut Errors) {
    let list = new.child("ipFamilies");
    let (after, before) = (list.items(), old.child("ipFamilies").items());
    let at = list.at().index(0);
    if after.len() == before.len() {
        for _ in after.iter().zip(&before).filter(|(new, old)| new.text() != old.text()) {
            errors.push(list.named(at.clone()).invalid("may not change once set"));
        }
        return;
    }
    let is_less = after.len() < before.len();
    if is_less && new.child("clusterIPs").is_empty() {
        errors.push(list.named(at.clone()).invalid("primary ipFamily can not be unset"));
    }
    let first = |list: &[Field]| list.first().map(|field| field.text().to_owned());
    if !after.is_empty() && !before.is_empty() && first(&after) != first(&before) {
        // The real server shows the addresses here.
        let shown = new.child("clusterIPs").named(at);
        errors.push(shown.invalid("may not change once set"));
    }
    if is_less && after.len() == 1 {
        released(new, "ipFamily", errors);
    }
}

fn released(spec: &Field, what: &str, errors: &mut Errors) {
    let policy = spec.child("ipFamilyPolicy");
    if policy.text() != "SingleStack" {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        errors.push(policy.invalid(detail));
    }
}
