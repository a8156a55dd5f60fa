//! Two schemas, value by value. It follows what both have; what only one has is a change as a whole.

use serde_json::{Map, Value};

use super::{
    alternatives::alternatives,
    change::Verdict::{Breaks, NeedsVersion, Safe},
    found::{Findings, Place},
    limits::limits,
    rules::rules,
    topology::{has_keys, topology},
};

const OPEN: &str = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const TEXTS: [&str; 4] = ["description", "title", "example", "externalDocs"];

const KEEP: &str = "what is stored there is lost with the next write: keep the field, or leave it out of a new version and convert";
const REQUIRED: &str = "a stored object without it is refused as soon as something beside it changes: give it a default, let it be \
     optional, or write a new version";

/// All changes from one schema of objects to the next.
pub(super) fn schema(old: &Value, new: &Value) -> Findings {
    let mut findings = Findings::default();
    value(old, new, &Place::root(), &mut findings);
    findings
}

fn value(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    findings.described += TEXTS.iter().filter(|name| old.get(**name) != new.get(**name)).count();
    if !same_type(old, new, place, findings) {
        return;
    }
    nullable(old, new, place, findings);
    default(old, new, place, findings);
    limits(old, new, place, findings);
    topology(old, new, place, findings);
    rules(old, new, place, findings);
    alternatives(old, new, place, findings);
    open(old, new, place, findings);
    embedded(old, new, place, findings);
    fields(old, new, place, findings);
    required(old, new, place, findings);
    entries(old, new, place, findings);
    if let (Some(old_item), Some(new_item)) = (old.get("items"), new.get("items")) {
        value(old_item, new_item, &place.each(!has_keys(new)), findings);
    }
}

/// Whether it is worth looking inside.
fn same_type(old: &Value, new: &Value, place: &Place, findings: &mut Findings) -> bool {
    let (before, after) = (type_of(old), type_of(new));
    if before == after {
        return true;
    }
    let change = format!("the type {before} is now {after}");
    let is_wider = match after {
        "any" => true,
        "number" => before == "integer",
        "int-or-string" => before == "integer" || before == "string",
        _ => false,
    };
    if is_wider {
        findings.loosen(place, change);
    } else {
        let remedy = "stored values do not fit, and clients cannot read them: write a new version and convert";
        findings.add(place, Breaks, change, remedy);
    }
    is_wider
}

fn type_of(schema: &Value) -> &str {
    if schema[INT_OR_STRING] == true {
        return "int-or-string";
    }
    schema["type"].as_str().unwrap_or("any")
}

fn nullable(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    match (old["nullable"] == true, new["nullable"] == true) {
        (true, false) => {
            let remedy = "the server drops a stored null, or puts the default in its place: write a new version if null means \
                          something";
            findings.add(place, NeedsVersion, "null is no longer valid", remedy);
        }
        (false, true) => findings.loosen(place, "null is valid now"),
        (true, true) | (false, false) => {}
    }
}

fn default(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    match (old.get("default"), new.get("default")) {
        (Some(before), None) => {
            let change = format!("the default {before} is removed");
            if place.is_required {
                findings.add(place, Breaks, change, REQUIRED);
            } else {
                findings.add(
                    place,
                    NeedsVersion,
                    change,
                    "objects that were written without it do not have it any more",
                );
            }
        }
        (None, Some(after)) => {
            let change = format!("the default {after} is added");
            if place.was_required {
                findings.add(place, Safe, change, "each stored object has a value");
            } else {
                let remedy = "stored objects without it have it at once: safe if the program took that for it already";
                findings.add(place, NeedsVersion, change, remedy);
            }
        }
        (Some(before), Some(after)) if before != after => {
            let change = format!("the default {before} is now {after}");
            let remedy =
                "manifests without it get the new one, and objects that were stored without it too";
            findings.add(place, NeedsVersion, change, remedy);
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
}

fn open(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    match (old[OPEN] == true, new[OPEN] == true) {
        // Those of maps are known.
        (true, false) if map_of(new).is_none() => {
            findings.lose(place, "fields that the schema does not know are no longer kept", KEEP);
        }
        (false, true) => {
            findings.loosen(place, "fields that the schema does not know are kept now");
        }
        (true, _) | (false, false) => {}
    }
}

fn embedded(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    match (old[EMBEDDED] == true, new[EMBEDDED] == true) {
        (false, true) => {
            findings.add(place, Breaks, "it must be a Kubernetes object now", REQUIRED);
        }
        (true, false) if new[OPEN] != true => {
            findings.lose(place, "it is no longer a Kubernetes object with metadata", KEEP);
        }
        (true, _) | (false, false) => {}
    }
}

fn fields(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    let (before, after) = (properties(old), properties(new));
    for (name, old_field) in before.into_iter().flatten() {
        let mut at = place.field(name, is_required(new, name));
        at.was_required = is_required(old, name);
        match (after.and_then(|after| after.get(name)), map_of(new)) {
            (Some(new_field), _) => value(old_field, new_field, &at, findings),
            (None, Some(entry)) => value(old_field, entry, &at, findings),
            (None, None) if new[OPEN] == true => {
                findings.loosen(&at, "the field is kept without validation");
            }
            (None, None) => findings.lose(&at, "the field is removed", KEEP),
        }
    }
    for (name, field) in after.into_iter().flatten() {
        if before.is_none_or(|before| !before.contains_key(name)) {
            added(old, field, &place.field(name, is_required(new, name)), findings);
        }
    }
}

/// A field that the old schema does not have. Its parent may have stored it all the same.
fn added(old_parent: &Value, field: &Value, place: &Place, findings: &mut Findings) {
    let has_default = field.get("default").is_some();
    if place.is_required && !has_default {
        findings.add(place, Breaks, "a required field is added", REQUIRED);
    } else if let Some(entry) = map_of(old_parent).filter(|entry| entry.is_object()) {
        value(entry, field, place, findings);
    } else if old_parent[OPEN] == true {
        let remedy =
            "what is stored there was not validated, and may not fit: read such objects first";
        findings.add(place, NeedsVersion, "the schema declares the field now", remedy);
    } else if has_default {
        findings.add(
            place,
            Safe,
            "a field with a default is added",
            "stored objects have it at once",
        );
    } else {
        findings.add(place, Safe, "an optional field is added", "the program must work without it");
    }
}

/// What is required of fields that were there before.
fn required(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    for name in required_names(new) {
        let was_there = properties(old).is_some_and(|before| before.contains_key(name));
        let is_declared = properties(new).is_some_and(|after| after.contains_key(name));
        if is_required(old, name) || (is_declared && !was_there) {
            continue;
        }
        let at = place.field(name, true);
        if new["properties"][name].get("default").is_some() {
            findings.add(
                &at,
                Safe,
                "the field is required now, with a default",
                "stored objects have it at once",
            );
        } else {
            findings.add(&at, Breaks, "the field is required now", REQUIRED);
        }
    }
    let is_kept = |name: &str| properties(new).is_some_and(|after| after.contains_key(name));
    for name in required_names(old).filter(|name| !is_required(new, name) && is_kept(name)) {
        let remedy = "older clients may need it";
        findings.add(&place.field(name, false), Safe, "the field is optional now", remedy);
    }
}

/// The values of a map.
fn entries(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    match (map_of(old), map_of(new)) {
        (Some(before), Some(after)) => value(before, after, &place.each(false), findings),
        (Some(_), None) if new[OPEN] != true => {
            findings.lose(&place.each(false), "entries of any name are no longer kept", KEEP);
        }
        (Some(_), None) => {
            findings.loosen(&place.each(false), "entries are kept without validation");
        }
        (None, _) => {}
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema["properties"].as_object()
}

fn required_names(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn is_required(schema: &Value, name: &str) -> bool {
    required_names(schema).any(|required| required == name)
}

/// The schema of all fields that are not declared. `true` is any value.
fn map_of(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|entry| entry.is_object() || **entry == true)
}
