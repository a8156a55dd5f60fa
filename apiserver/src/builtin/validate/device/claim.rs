//! Claims for devices: what is asked for, and what must be alike.

use super::{
    super::{
        field::{Errors, Field},
        name, selector,
    },
    configuration, each_once, is_short, qualified, selectors,
};
use crate::schema::name_rule;

const REFERENCE: &str = "must be the name of a request in the claim or the name of a request and a \
                         subrequest separated by '/'";

const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// What claims are made from.
pub(in super::super) fn template(template: &Field, errors: &mut Errors) {
    let metadata = template.child("metadata");
    selector::labels(&metadata.child("labels"), errors);
    self::spec(&template.child("spec"), errors);
}

/// The spec of a claim.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    let devices = spec.child("devices");
    let requests = devices.child("requests");
    if is_short(&requests, 32, errors) {
        for known in requests.items() {
            request(&known, errors);
        }
        each_once(&requests, Some("name"), errors);
    }
    let constraints = devices.child("constraints");
    if is_short(&constraints, 32, errors) {
        for constraint in constraints.items() {
            references(&constraint.child("requests"), &requests, errors);
            attribute(&constraint, errors);
        }
    }
    let configurations = devices.child("config");
    if is_short(&configurations, 32, errors) {
        for known in configurations.items() {
            references(&known.child("requests"), &requests, errors);
            configuration(&known, errors);
        }
    }
}

fn request(request: &Field, errors: &mut Errors) {
    request.string("name").follows(name_rule::dns_label, errors);
    let (exactly, available) = (request.child("exactly"), request.child("firstAvailable"));
    let detail = "exactly one of `exactly` or `firstAvailable` is required";
    match (exactly.is_given(), available.is_empty()) {
        (false, true) => errors.push(request.required(detail)),
        (true, false) => {
            let detail = format!("{detail}, but multiple fields are set");
            errors.push(request.invalid_as("null".to_owned(), detail));
        }
        (true, true) => exact(&exactly, errors),
        (false, false) => {
            if is_short(&available, 8, errors) {
                for known in available.items() {
                    known.string("name").follows(name_rule::dns_label, errors);
                    exact(&known, errors);
                }
                each_once(&available, Some("name"), errors);
            }
        }
    }
}

fn exact(request: &Field, errors: &mut Errors) {
    let class = request.string("deviceClassName");
    class.is_required("", errors);
    class.follows_unless_empty(name_rule::dns_subdomain, errors);
    selectors(&request.child("selectors"), errors);
    let (mode, count) = (request.string("allocationMode"), request.integer("count"));
    match mode.text() {
        "All" if count.number() != 0 => {
            errors.push(count.invalid("must not be specified when allocationMode is 'All'"));
        }
        "ExactCount" if count.number() <= 0 => {
            errors.push(count.invalid("must be greater than zero"));
        }
        "All" | "ExactCount" => {}
        _ => errors.push(mode.not_supported(&["All", "ExactCount"])),
    }
    for known in request.child("tolerations").items() {
        toleration(&known, errors);
    }
}

fn toleration(toleration: &Field, errors: &mut Errors) {
    let (key, value) = (toleration.string("key"), toleration.string("value"));
    if !key.is_empty() {
        key.is_qualified(errors);
    }
    let operator = toleration.string("operator");
    match operator.text() {
        "Exists" if !value.is_empty() => {
            errors.push(value.invalid("must be empty for operator `Exists`"));
        }
        "Exists" => {}
        "Equal" => label_value(&value, errors),
        "" => errors.push(operator.required("")),
        _ => errors.push(operator.not_supported(&["Equal", "Exists"])),
    }
    let effect = toleration.string("effect");
    if !effect.is_empty() {
        effect.is_one_of(&EFFECTS, errors);
    }
}

/// A taint that a driver gives a device.
pub(super) fn taint(taint: &Field, errors: &mut Errors) {
    let key = taint.string("key");
    name::qualified(key.text(), key.at(), errors);
    label_value(&taint.string("value"), errors);
    let effect = taint.string("effect");
    if effect.is_empty() {
        errors.push(effect.required(""));
    } else {
        effect.is_one_of(&EFFECTS, errors);
    }
}

fn label_value(value: &Field, errors: &mut Errors) {
    let details = name_rule::label_value(value.text());
    errors.extend(details.into_iter().map(|detail| value.invalid(detail)));
}

/// Names of requests, or of what is first available for one.
fn references(references: &Field, requests: &Field, errors: &mut Errors) {
    if !is_short(references, 32, errors) {
        return;
    }
    for reference in references.items() {
        let parts: Vec<&str> = reference.text().split('/').collect();
        if parts.len() > 2 {
            errors.push(reference.invalid(REFERENCE));
            continue;
        }
        for part in &parts {
            let print = crate::schema::go_value::quote(part);
            for detail in name_rule::dns_label(part, false) {
                errors.push(reference.invalid_as(print.clone(), detail));
            }
        }
        if !is_known(&parts, requests) {
            errors.push(reference.invalid(REFERENCE));
        }
    }
    each_once(references, None, errors);
}

fn is_known(parts: &[&str], requests: &Field) -> bool {
    let named = |list: &Field<'_>, name: &str| {
        let items = list.items();
        items.iter().position(|item| item.string("name").text() == name)
    };
    let Some(index) = named(requests, parts[0]) else { return false };
    let available = requests.items()[index].child("firstAvailable");
    parts.get(1).is_none_or(|part| named(&available, part).is_some())
}

fn attribute(constraint: &Field, errors: &mut Errors) {
    let known = ["matchAttribute", "distinctAttribute"];
    let Some(name) = known.iter().find_map(|field| constraint.given(field)) else {
        let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but \
                      multiple fields are set";
        errors.push(constraint.required(detail));
        return;
    };
    qualified(&name, errors);
    if !name.text().contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.push(name.invalid(detail));
    }
}
