//! Two states of one CRD: its names and its scope, its versions, and how they are converted.

use serde_json::Value;

use super::{
    change::{
        CrdChange,
        Verdict::{self, Breaks, NeedsVersion, Safe},
        whole,
    },
    lost::lost,
    version::{self, Pair, name},
};

pub(super) fn compare(old: &Value, new: &Value) -> Vec<CrdChange> {
    let crd = text(&old["metadata"]["name"]);
    let mut changes = names(crd, &old["spec"], &new["spec"]);
    changes.extend(storage(crd, old, new));
    changes.extend(conversion(crd, old, new));
    for before in versions(old) {
        match find(new, name(before)) {
            Some(after) => {
                changes.extend(version::compare(&Pair { crd, old: before, new: after }));
            }
            None => changes.push(removed(crd, before)),
        }
    }
    for added in versions(new).iter().filter(|version| find(old, name(version)).is_none()) {
        changes.push(whole(
            crd,
            Safe,
            "spec.versions",
            &format!("the version {} is added", name(added)),
            "the release before cannot read objects that are stored in it",
        ));
        let kept = stored(old).and_then(|stored| find(new, name(stored)));
        if let Some(stored) = kept.filter(|_| !is_converted(new)) {
            changes.extend(lost(crd, stored, added));
        }
    }
    changes
}

/// What Kubernetes does not let change, what programs know a type by, and what only people type.
const FIELDS: [(&str, Verdict, &str); 8] = [
    ("/group", Breaks, REFUSED),
    ("/scope", Breaks, REFUSED),
    ("/names/plural", Breaks, REFUSED),
    ("/names/kind", Breaks, REFUSED),
    ("/names/listKind", NeedsVersion, "clients that read lists by it fail"),
    ("/names/singular", Safe, "it is for people only"),
    ("/names/shortNames", Safe, "it is for people only"),
    ("/names/categories", Safe, "it is for people only"),
];
const REFUSED: &str =
    "the API server refuses it: keep it, or begin another type and copy the objects";

fn names(crd: &str, old: &Value, new: &Value) -> Vec<CrdChange> {
    let changed = FIELDS.iter().filter_map(|(path, verdict, remedy)| {
        let (before, after) = (at(old, new, path)?, at(new, old, path)?);
        let shown = format!("spec{}", path.replace('/', "."));
        let change = format!("{before} is now {after}");
        (before != after).then(|| whole(crd, *verdict, &shown, &change, remedy))
    });
    changed.collect()
}

/// A name that is left out has a default; an empty list is none.
fn at(spec: &Value, other: &Value, path: &str) -> Option<Value> {
    let is_list = matches!(path, "/names/shortNames" | "/names/categories");
    match spec.pointer(path).filter(|value| !value.is_null()) {
        Some(value) => Some(value.clone()),
        None if is_list => Some(Value::Array(Vec::new())),
        None => other.pointer(path).cloned(),
    }
}

fn storage(crd: &str, old: &Value, new: &Value) -> Option<CrdChange> {
    let (before, after) = (name(stored(old)?), name(stored(new)?));
    // Otherwise the version is removed, which is said.
    let is_kept = find(new, before).is_some();
    (before != after && is_kept).then(|| {
        let change = format!("{after} is stored instead of {before}");
        let remedy =
            format!("run `migrate` afterwards; until then keep {before} and its conversion");
        whole(crd, Safe, "spec.versions", &change, &remedy)
    })
}

fn conversion(crd: &str, old: &Value, new: &Value) -> Option<CrdChange> {
    let path = "spec.conversion";
    match (is_converted(old), is_converted(new)) {
        (true, false) if versions(new).len() > 1 => {
            let remedy = "fields that differ between the versions are lost: keep the conversion while there are two of them";
            Some(whole(crd, Breaks, path, "the versions are no longer converted", remedy))
        }
        (false, true) => {
            let remedy = "the program must answer: without it the other versions cannot be read";
            Some(whole(crd, Safe, path, "the program converts the versions", remedy))
        }
        _ => None,
    }
}

fn removed(crd: &str, version: &Value) -> CrdChange {
    let name = name(version);
    let change = format!("the version {name} is removed");
    let (verdict, remedy) = if version["storage"] == true {
        (
            Breaks,
            "it is stored: store another version, run `migrate`, and remove it in a later release",
        )
    } else if version["served"] == true {
        (
            Breaks,
            "clients of it fail: serve it no longer in one release, and remove it in the next, after `migrate`",
        )
    } else {
        (
            Safe,
            "the API server refuses it until `migrate` has removed it from status.storedVersions",
        )
    };
    whole(crd, verdict, "spec.versions", &change, remedy)
}

fn is_converted(crd: &Value) -> bool {
    crd["spec"]["conversion"]["strategy"] == "Webhook"
}

fn versions(crd: &Value) -> &[Value] {
    crd["spec"]["versions"].as_array().map_or(&[], Vec::as_slice)
}

fn find<'a>(crd: &'a Value, wanted: &str) -> Option<&'a Value> {
    versions(crd).iter().find(|version| name(version) == wanted)
}

fn stored(crd: &Value) -> Option<&Value> {
    versions(crd).iter().find(|version| version["storage"] == true)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
