//! How the items of lists and the fields of maps are distinguished and owned.

use serde_json::Value;

use super::{
    change::Verdict::{Breaks, NeedsVersion},
    found::{Findings, Place},
};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";

/// Whether Kubernetes distinguishes the items by keys.
pub(super) fn has_keys(schema: &Value) -> bool {
    schema[LIST_TYPE] == "map"
}

pub(super) fn topology(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    if old["type"] == "array" {
        list(old, new, place, findings);
    }
    let of = |schema: &Value| schema[MAP_TYPE].as_str().unwrap_or("granular").to_owned();
    if of(old) != of(new) {
        let change = format!("the map type {} is now {}", of(old), of(new));
        findings.add(place, NeedsVersion, change, OWNERS);
    }
}

const OWNERS: &str = "who owns which part in server-side apply changes: let one manager apply it, or write a new version";
const DUPLICATES: &str =
    "a stored list with duplicates may be refused at any update: write a new version";

fn list(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    let of = |schema: &Value| schema[LIST_TYPE].as_str().unwrap_or("atomic").to_owned();
    let (old_type, new_type) = (of(old), of(new));
    if old_type != new_type {
        let change = format!("the list type {old_type} is now {new_type}");
        let (verdict, remedy) =
            if new_type == "atomic" { (NeedsVersion, OWNERS) } else { (Breaks, DUPLICATES) };
        findings.add(place, verdict, change, remedy);
    } else if keys(old) != keys(new) {
        let change = format!("the keys {} are now {}", keys(old).join(", "), keys(new).join(", "));
        findings.add(place, Breaks, change, DUPLICATES);
    }
}

/// Their order means nothing.
fn keys(schema: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        schema[LIST_KEYS].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    keys.sort_unstable();
    keys
}
