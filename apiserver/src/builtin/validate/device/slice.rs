//! What a driver offers: devices, their attributes and capacities, and where they are.
//!
//! Not here: request policies of capacities, binding conditions and resources of nodes.

use serde_json::{Value, json};

use super::{
    super::{
        field::{Errors, Field},
        immutable, node_selector,
        volume::source::driver,
    },
    claim, each_once, is_short, qualified,
};
use crate::{
    builtin::path,
    schema::{go_value::quote, name_rule},
};

const PLACES: [&str; 4] = ["nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"];

/// A slice, or the successor of another.
pub(in super::super) fn slice(new: &Field, old: Option<&Field>, errors: &mut Errors) {
    let spec = new.child("spec");
    driver(&spec.string("driver"), errors);
    pool(&spec.child("pool"), errors);
    if let Some(old) = old {
        for field in ["spec.pool.name", "spec.driver", "spec.nodeName"] {
            immutable::field(new, old, field, errors);
        }
    }
    place(&spec, errors);
    let (devices, counters) = (spec.child("devices"), spec.child("sharedCounters"));
    if devices.is_given() && counters.is_given() {
        let detail = "only one of `sharedCounters` or `devices` is allowed";
        errors.push(spec.invalid_as("\"\"".to_owned(), detail));
    }
    let before = old.map(|old| old.child("spec").child("devices"));
    let most = if devices.items().iter().any(is_advanced) { 64 } else { 128 };
    if is_short(&devices, most, errors) {
        for known in devices.items() {
            device(&known, before.as_ref(), errors);
        }
        each_once(&devices, Some("name"), errors);
    }
    if is_short(&counters, 8, errors) {
        for set in counters.items() {
            amounts(&set, "name", errors);
        }
        each_once(&counters, Some("name"), errors);
    }
}

/// Whether there may be fewer devices like this in a slice.
fn is_advanced(device: &Field) -> bool {
    !device.child("taints").is_empty()
        || !device.child("consumesCounters").is_empty()
        || device.child("attributes").entries().iter().any(|(_, attribute)| {
            ["bools", "ints", "strings", "versions"].iter().any(|f| attribute.child(f).is_given())
        })
}

fn pool(pool: &Field, errors: &mut Errors) {
    let name = pool.string("name");
    if name.is_empty() {
        errors.push(name.required(""));
    } else {
        if name.text().len() > 253 {
            errors.push(name.too_long(253));
        }
        for part in name.text().split('/') {
            for detail in name_rule::dns_subdomain(part, false) {
                errors.push(name.invalid_as(quote(part), detail));
            }
        }
    }
    let (count, generation) = (pool.integer("resourceSliceCount"), pool.integer("generation"));
    if count.number() <= 0 {
        errors.push(count.invalid("must be greater than zero"));
    }
    if generation.number() < 0 {
        errors.push(generation.invalid("must be greater than or equal to zero"));
    }
}

/// Exactly one way to say on which nodes the devices are.
fn place(spec: &Field, errors: &mut Errors) {
    let mut given: Vec<String> = Vec::new();
    for name in PLACES {
        let Some(place) = spec.given(name) else { continue };
        match name {
            "nodeName" if place.is_empty() => {
                errors.push(place.invalid("must be either unset or set to a non-empty string"));
                continue;
            }
            "nodeName" => place.follows(name_rule::dns_subdomain, errors),
            "nodeSelector" => {
                node_selector::selector(&place, errors);
                let terms = place.child("nodeSelectorTerms");
                if terms.len() != 1 {
                    errors.push(terms.invalid("must have exactly one node selector term"));
                }
            }
            _ if !place.flag() => {
                errors.push(place.invalid("must be either unset or set to true"));
                continue;
            }
            _ => {}
        }
        given.push(format!("`{name}`"));
    }
    let detail =
        format!("exactly one of {} is required", PLACES.map(|name| format!("`{name}`")).join(", "));
    if given.is_empty() {
        errors.push(spec.required(detail));
    } else if given.len() > 1 {
        let print = quote(&format!("{{{}}}", given.join(", ")));
        let detail = format!("{detail}, but multiple fields are set");
        errors.push(spec.invalid_as(print, detail));
    }
}

fn device(device: &Field, before: Option<&Field>, errors: &mut Errors) {
    device.string("name").follows(name_rule::dns_label, errors);
    let (attributes, capacity) = (device.child("attributes"), device.child("capacity"));
    let count = attributes.entries().len() + capacity.entries().len();
    if count > 32 {
        let detail = "the total number of attributes and capacities must not exceed 32";
        errors.push(device.invalid_as(count.to_string(), detail));
    }
    for (name, known) in attributes.entries() {
        key(name, &attributes, errors);
        attribute(&known, errors);
    }
    for (name, _) in capacity.entries() {
        key(name, &capacity, errors);
    }
    let same = before.and_then(|list| {
        path::list_of(list.value()).iter().find(|old| old["name"] == device.value()["name"])
    });
    let taints = device.child("taints");
    let is_changed = same.is_none_or(|old| old.get("taints") != device.value().get("taints"));
    if is_changed && is_short(&taints, 16, errors) {
        for taint in taints.items() {
            claim::taint(&taint, errors);
        }
    }
    let consumed = device.child("consumesCounters");
    if is_short(&consumed, 2, errors) {
        for set in consumed.items() {
            amounts(&set, "counterSet", errors);
        }
        each_once(&consumed, Some("counterSet"), errors);
    }
}

fn key(name: &str, map: &Field, errors: &mut Errors) {
    let name: Value = json!(name);
    qualified(&Field::new(&name, map.at()), errors);
}

fn attribute(attribute: &Field, errors: &mut Errors) {
    let mut count = 0;
    for name in ["bool", "int", "string", "version", "bools", "ints", "strings", "versions"] {
        let Some(value) = attribute.given(name) else { continue };
        count += 1;
        if value.value().is_array() && value.is_empty() {
            errors.push(value.invalid("must not be empty if specified"));
        }
        let texts = if value.value().is_array() { value.items() } else { vec![value] };
        for text in texts.iter().filter(|text| text.value().is_string()) {
            if name.starts_with("version") && !is_version(text.text()) {
                let detail = "must be a string compatible with semver.org spec 2.0.0";
                errors.push(text.invalid(detail));
            }
            if text.text().len() > 64 {
                errors.push(text.too_long(64));
            }
        }
    }
    let detail = "must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, \
                  `strings`, `versions`";
    match count {
        0 => errors.push(attribute.invalid_as("\"\"".to_owned(), detail)),
        1 => {}
        _ => errors.push(attribute.invalid("exactly one value must be specified")),
    }
}

/// Whether this is a version as semver.org has it.
fn is_version(text: &str) -> bool {
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, b)| (rest, Some(b)));
    let (core, pre) = rest.split_once('-').map_or((rest, None), |(core, p)| (core, Some(p)));
    let is_number = |part: &str| {
        part == "0"
            || !part.is_empty()
                && !part.starts_with('0')
                && part.chars().all(|c| c.is_ascii_digit())
    };
    let is_word = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let is_early = |part: &str| {
        is_word(part) && (is_number(part) || part.chars().any(|c| !c.is_ascii_digit()))
    };
    let numbers: Vec<&str> = core.split('.').collect();
    numbers.len() == 3
        && numbers.into_iter().all(is_number)
        && pre.is_none_or(|pre| pre.split('.').all(is_early))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

/// Counters of a set, or what a device takes of them.
fn amounts(set: &Field, named: &str, errors: &mut Errors) {
    let name = set.string(named);
    name.is_required("", errors);
    name.follows_unless_empty(name_rule::dns_label, errors);
    let counters = set.child("counters");
    let entries = counters.entries();
    if entries.is_empty() {
        errors.push(counters.required(""));
    } else if entries.len() > 32 {
        errors.push(counters.too_many(32));
    } else {
        for (name, _) in entries {
            let name: Value = json!(name);
            Field::new(&name, counters.at()).follows(name_rule::dns_label, errors);
        }
    }
}
