//! Alternatives of a schema. Kubernetes does not ratchet below them, and what they accept is compared as sets only.

use serde_json::Value;

use super::{
    change::Verdict,
    found::{Findings, Place},
};

const REMEDY: &str =
    "stored objects that do not fit may be refused at any update: write a new version";

pub(super) fn alternatives(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    // Its alternatives are the two types.
    if new["x-kubernetes-int-or-string"] == true {
        return;
    }
    // With one more that is allowed everything before still fits; of `allOf` it is the other way round.
    for (name, is_wider) in [("anyOf", true), ("oneOf", true), ("allOf", false)] {
        let (old, new) = (all(old, name), all(new, name));
        if is_same(&old, &new) {
            continue;
        }
        let has_all = |one: &[&Value], of: &[&Value]| of.iter().all(|it| one.contains(it));
        let fits = match (old.is_empty(), new.is_empty()) {
            (_, true) => true,
            (true, false) => false,
            (false, false) if is_wider => has_all(&new, &old),
            (false, false) => has_all(&old, &new),
        };
        if fits {
            findings.loosen(place, format!("{name} accepts more"));
        } else {
            findings.add(place, Verdict::Breaks, format!("{name} is changed"), REMEDY);
        }
    }
    match (old.get("not"), new.get("not")) {
        (old, new) if old == new => {}
        (Some(_), None) => findings.loosen(place, "not is removed"),
        _ => findings.add(place, Verdict::Breaks, "not is changed", REMEDY),
    }
}

fn all<'a>(schema: &'a Value, name: &str) -> Vec<&'a Value> {
    schema[name].as_array().into_iter().flatten().collect()
}

fn is_same(one: &[&Value], other: &[&Value]) -> bool {
    one.len() == other.len() && one.iter().all(|it| other.contains(it))
}
