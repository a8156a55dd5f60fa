//! Requests and limits of containers and of whole pods.

use std::collections::BTreeSet;

use super::{
    super::{
        Quantity,
        field::{Errors, Field},
        name, resource_name,
    },
    context::Context,
};
use crate::schema::{FieldError, FieldPath, go_value::quote, name_rule};

/// The resources of a container; `claims` are those of its pod.
pub(super) fn of_container(resources: &Field, claims: &BTreeSet<&str>, errors: &mut Errors) {
    requirements(resources, resource_name::of_container, errors);
    used_claims(&resources.child("claims"), claims, errors);
}

/// Amounts of resources that containers have.
pub(in super::super) fn amounts(amounts: &Field, errors: &mut Errors) {
    for (resource, amount) in amounts.entries() {
        resource_name::of_container(resource, amount.at(), errors);
        resource_name::amount(resource, &amount, errors);
        huge_pages(resource, &amount, errors);
    }
    let has = |wanted: fn(&str) -> bool| amounts.entries().iter().any(|(name, _)| wanted(name));
    if has(resource_name::is_huge_page) && !has(|name| matches!(name, "cpu" | "memory")) {
        errors.push(amounts.forbidden("HugePages require cpu or memory"));
    }
}

/// The resources of a pod as a whole.
pub(super) fn of_pod(pod: &Context, errors: &mut Errors) {
    let Some(resources) = pod.spec.given("resources") else { return };
    if pod.spec.child("os").string("name").text() == "windows" {
        errors.push(resources.forbidden("may not be set for a windows pod"));
        return;
    }
    if let Some(claims) = resources.given("claims") {
        errors.push(claims.forbidden("claims may not be set for Resources at pod-level"));
    }
    requirements(&resources, of_pods, errors);
    used_claims(&resources.child("claims"), &pod.claims, errors);
    sums(pod, &resources, errors);
}

fn of_pods(name: &str, at: &FieldPath, errors: &mut Errors) {
    let is_known = matches!(name, "cpu" | "memory") || resource_name::is_huge_page(name);
    if resource_name::any(name, at, errors) && !is_known {
        let supported = ["cpu", "hugepages-", "memory"];
        errors.push(FieldError::not_supported(at, &name.into(), supported));
    }
}

fn requirements(
    resources: &Field,
    check_name: fn(&str, &FieldPath, &mut Errors),
    errors: &mut Errors,
) {
    let (limits, requests) = (resources.child("limits"), resources.child("requests"));
    for (resource, amount) in limits.entries() {
        check_name(resource, amount.at(), errors);
        resource_name::amount(resource, &amount, errors);
        huge_pages(resource, &amount, errors);
    }
    for (resource, amount) in requests.entries() {
        check_name(resource, amount.at(), errors);
        resource_name::amount(resource, &amount, errors);
        within_limit(resource, &amount, &limits, &requests, errors);
        huge_pages(resource, &amount, errors);
    }
    let names = || limits.entries().into_iter().chain(requests.entries()).map(|(name, _)| name);
    let has_huge_pages = names().any(resource_name::is_huge_page);
    if has_huge_pages && !names().any(|name| matches!(name, "cpu" | "memory")) {
        errors.push(resources.forbidden("HugePages require cpu or memory"));
    }
}

fn within_limit(
    resource: &str,
    amount: &Field,
    limits: &Field,
    requests: &Field,
    errors: &mut Errors,
) {
    let overcommits = resource_name::may_overcommit(resource);
    let Some(limit) = limits.child(resource).quantity() else {
        if !overcommits {
            errors.push(limits.required("Limit must be set for non overcommitable resources"));
        }
        return;
    };
    let Some(request) = amount.quantity() else { return };
    let order = request.compare(limit);
    let relation = if order.is_ne() && !overcommits {
        "equal to"
    } else if order.is_gt() {
        "less than or equal to"
    } else {
        return;
    };
    let detail = format!("must be {relation} {resource} limit of {limit}");
    errors.push(requests.invalid_as(quote(&request.to_string()), detail));
}

fn huge_pages(resource: &str, amount: &Field, errors: &mut Errors) {
    let Some(size) = resource.strip_prefix("hugepages-") else { return };
    let Some(quantity) = amount.quantity() else { return };
    let pages = Quantity::parse(size).and_then(Quantity::as_whole).filter(|size| *size > 0);
    let bytes = quantity.as_whole();
    let fits = pages.zip(bytes).is_some_and(|(size, bytes)| bytes % size == 0);
    if !fits {
        let detail = format!("{quantity} is not positive integer multiple of {resource}");
        errors.push(amount.invalid_as(quote(&quantity.to_string()), detail));
    }
}

/// Each claim of the pod, or a request of one, is used once.
fn used_claims(used: &Field, claims: &BTreeSet<&str>, errors: &mut Errors) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for claim in used.items() {
        let own = claim.string("name").named(claim.at().clone());
        if own.is_empty() {
            errors.push(own.required(""));
            continue;
        }
        if known.contains(own.text()) {
            errors.push(own.duplicate());
        } else {
            let request = claim.string("request");
            request.follows_unless_empty(name_rule::dns_label, errors);
            let is_whole = request.is_empty();
            let slash = if is_whole { "" } else { "/" };
            let key = format!("{}{slash}{}", own.text(), request.text());
            let overlaps = |other: &&String| other.split('/').next() == Some(own.text());
            let twice = if is_whole {
                known.iter().filter(overlaps).count()
            } else {
                usize::from(known.contains(&key))
            };
            for _ in 0..twice {
                let error = own.duplicate();
                errors.push(FieldError { value: Some(quote(&key)), ..error });
            }
            known.insert(key);
        }
        if !claims.contains(own.text()) {
            let names: Vec<&str> = claims.iter().copied().filter(|name| !name.is_empty()).collect();
            let detail = if names.is_empty() {
                "must be one of the names in pod.spec.resourceClaims which is empty".to_owned()
            } else {
                format!("must be one of the names in pod.spec.resourceClaims: {}", names.join(", "))
            };
            errors.push(name::not_found(&own, detail));
        }
    }
}

/// What containers ask for must fit into what the pod has.
fn sums(pod: &Context, resources: &Field, errors: &mut Errors) {
    let requests = resources.child("requests");
    for (resource, amount) in requests.entries() {
        let Some((most, sum)) = amount.quantity().zip(sum(pod, "requests", resource)) else {
            continue;
        };
        if sum.compare(most).is_gt() {
            let detail =
                format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.push(amount.invalid_as(quote(&most.to_string()), detail));
        }
    }
    let limits = resources.child("limits");
    for (resource, amount) in limits.entries() {
        let sum = sum(pod, "limits", resource).filter(|_| resource_name::is_huge_page(resource));
        let Some((most, sum)) = amount.quantity().zip(sum) else { continue };
        if sum.compare(most).is_gt() {
            let detail =
                format!("must be greater than or equal to aggregate container limits of {sum}");
            errors.push(amount.invalid_as(quote(&most.to_string()), detail));
        }
    }
    for (index, container) in pod.spec.child("containers").items().iter().enumerate() {
        for (resource, amount) in container.child("resources").child("limits").entries() {
            let most = limits.child(resource).quantity();
            let Some((most, limit)) = most.zip(amount.quantity()) else { continue };
            if limit.compare(most).is_gt() {
                let at = resources.at().child("containers").index(index).key(resource);
                let detail = format!("must be less than or equal to pod limits of {most}");
                let shown = quote(&limit.to_string());
                errors.push(amount.named(at.child("limits")).invalid_as(shown, detail));
            }
        }
    }
}

/// What the containers of a pod have together at most: init containers run one by one, sidecars beside all others.
fn sum(pod: &Context, kind: &str, resource: &str) -> Option<Quantity> {
    let of =
        |container: &Field| container.child("resources").child(kind).child(resource).quantity();
    let plus = |sum: Option<Quantity>, other: Option<Quantity>| match (sum, other) {
        (Some(sum), Some(other)) => Some(sum.plus(other)),
        (sum, other) => sum.or(other),
    };
    let larger = |one: Option<Quantity>, other: Option<Quantity>| match (one, other) {
        (Some(one), Some(other)) if other.compare(one).is_gt() => Some(other),
        (one, other) => one.or(other),
    };
    let mut running = pod.spec.child("containers").items().iter().map(of).fold(None, plus);
    let (mut sidecars, mut most) = (None, None);
    for container in pod.spec.child("initContainers").items() {
        let own = of(&container);
        if container.string("restartPolicy").text() == "Always" {
            running = plus(running, own);
            sidecars = plus(sidecars, own);
            most = larger(most, sidecars);
        } else {
            most = larger(most, plus(own, sidecars));
        }
    }
    larger(running, most)
}
