//! What is reported of a pod: conditions, addresses, containers that do not come back to life.

use std::{collections::BTreeSet, net::IpAddr};

use super::super::{
    field::{Errors, Field},
    immutable, ip, shown,
};
use crate::schema::name_rule;

const SYSTEM: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];

/// The status of `new`, compared with that of `old`.
pub(super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let (status, before) = (new.child("status"), old.child("status"));
    for condition in status.child("conditions").items() {
        generation(&condition, errors);
        let ty = condition.string("type");
        if !SYSTEM.contains(&ty.text()) {
            ty.named(condition.at().child("Type")).is_qualified(errors);
        }
    }
    nominated(&status, &before, old, errors);
    generation(&status, errors);
    let class = status.string("qosClass");
    if class.text() != before.string("qosClass").text() {
        errors.push(class.invalid(immutable::DETAIL));
    }
    containers(&status, &before, &old.child("spec"), errors);
    claims(new, errors);
    addresses(&status.child("podIPs"), "core.PodIP", errors);
    let (first, hosts) = (status.string("hostIP"), status.child("hostIPs"));
    if let Some(address) = hosts.items().first().map(|host| host.string("ip"))
        && address.text() != first.text()
    {
        errors.push(address.invalid("must be equal to `hostIP`"));
    }
    addresses(&hosts, "core.HostIP", errors);
}

fn generation(of: &Field, errors: &mut Errors) {
    let generation = of.integer("observedGeneration");
    if generation.number() < 0 {
        errors.push(generation.invalid("must be a non-negative integer"));
    }
}

/// The node on which the scheduler makes room for a pod.
fn nominated(status: &Field, before: &Field, old: &Field, errors: &mut Errors) {
    let node = status.string("nominatedNodeName");
    if node.is_empty() || node.text() == before.string("nominatedNodeName").text() {
        return;
    }
    node.follows(name_rule::dns_subdomain, errors);
    if !old.child("spec").string("nodeName").is_empty() {
        errors.push(node.forbidden("may not be set on pods that are already bound to a node"));
    }
}

/// A container that has ended starts again only if its policy says so.
fn containers(status: &Field, before: &Field, spec: &Field, errors: &mut Errors) {
    let lists = [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
        ("ephemeralContainerStatuses", ""),
    ];
    for (list, of) in lists {
        let after = status.child(list).items();
        for (index, old) in before.child(list).items().iter().enumerate() {
            let Some(end) = old.child("state").given("terminated") else { continue };
            let name = old.string("name").text();
            let revived = after.iter().any(|status| {
                status.string("name").text() == name
                    && status.child("state").given("terminated").is_none()
            });
            let owners = spec.child(of).items();
            let container = owners.iter().find(|container| container.string("name").text() == name);
            let code = end.child("exitCode").number();
            if revived && !container.is_some_and(|container| restarts(container, spec, of, code)) {
                let at = status.child(list).at().index(index).child("state");
                let detail = "may not be transitioned to non-terminated state";
                errors.push(old.named(at).forbidden(detail));
            }
        }
    }
}

/// Whether a container that ended with this code is started again.
fn restarts(container: &Field, spec: &Field, list: &str, code: i64) -> bool {
    for rule in container.child("restartPolicyRules").items() {
        let codes = rule.child("exitCodes");
        let listed = codes.child("values").items().iter().any(|value| value.number() == code);
        match codes.string("operator").text() {
            "In" if listed => return true,
            "NotIn" if !listed => return true,
            _ => {}
        }
    }
    let own = container.child("restartPolicy");
    let policy = if own.is_given() { own.text() } else { spec.string("restartPolicy").text() };
    match policy {
        "Always" => !(list == "initContainers" && !own.is_given() && code == 0),
        "OnFailure" => code != 0,
        _ => false,
    }
}

fn claims(new: &Field, errors: &mut Errors) {
    let known: Vec<&str> = new
        .child("spec")
        .child("resourceClaims")
        .items()
        .iter()
        .map(|claim| claim.string("name").text())
        .collect();
    let mut seen = BTreeSet::new();
    for status in new.child("status").child("resourceClaimStatuses").items() {
        let name = status.string("name");
        if !known.contains(&name.text()) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            errors.push(name.invalid(detail));
        }
        if !seen.insert(name.text()) {
            errors.push(name.duplicate());
        }
        if let Some(claim) = status.given("resourceClaimName") {
            claim.follows(name_rule::dns_subdomain, errors);
        }
    }
}

fn addresses(list: &Field, of: &str, errors: &mut Errors) {
    let given = list.items();
    for (index, entry) in given.iter().enumerate() {
        ip::address(&entry.string("ip").named(list.at().index(index)), errors);
    }
    let parsed: Vec<IpAddr> =
        given.iter().filter_map(|entry| ip::parse(entry.string("ip").text())).collect();
    if given.len() > 1 && (parsed.len() == given.len() && ip::has_same_family(&parsed)) {
        let print: Vec<String> = given.iter().map(|entry| shown::go(of, entry.value())).collect();
        let detail = "may specify no more than one IP for each IP family";
        errors.push(list.invalid_as(format!("[{}]", print.join(",")), detail));
    }
}
