//! Which values of a type are valid: numbers, lengths, patterns, formats and enums.

use serde_json::Value;

use super::found::{Findings, Place};

const LOWER: [&str; 4] = ["minimum", "minLength", "minItems", "minProperties"];
const UPPER: [&str; 4] = ["maximum", "maxLength", "maxItems", "maxProperties"];
const EXCLUSIVE: [&str; 2] = ["exclusiveMinimum", "exclusiveMaximum"];

/// The formats that the API server checks. It ignores others.
const CHECKED: [&str; 25] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

pub(super) fn limits(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    for name in LOWER {
        // A length is never negative.
        let floor = if name == "minimum" { f64::NEG_INFINITY } else { 0.0 };
        let of = |schema: &Value| schema[name].as_f64().unwrap_or(floor);
        bound(name, (old, new), of(new) - of(old), place, findings);
    }
    for name in UPPER {
        let of = |schema: &Value| schema[name].as_f64().unwrap_or(f64::INFINITY);
        bound(name, (old, new), of(old) - of(new), place, findings);
    }
    for name in EXCLUSIVE {
        let of = |schema: &Value| f64::from(u8::from(schema[name] == true));
        bound(name, (old, new), of(new) - of(old), place, findings);
    }
    multiple(old, new, place, findings);
    pattern(old, new, place, findings);
    format(old, new, place, findings);
    values(old, new, place, findings);
}

/// A bound that is `tighter` by so much.
fn bound(
    name: &str,
    (old, new): (&Value, &Value),
    tighter: f64,
    place: &Place,
    findings: &mut Findings,
) {
    let change = || format!("{name} {} is now {}", shown(&old[name]), shown(&new[name]));
    if tighter > 0.0 {
        findings.tighten(place, change());
    } else if tighter < 0.0 {
        findings.loosen(place, change());
    }
}

fn multiple(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    let of = |schema: &Value| schema["multipleOf"].as_f64();
    let change = |what: &str| format!("multipleOf is {what}");
    match (of(old), of(new)) {
        (None, Some(_)) => findings.tighten(place, change("added")),
        (Some(_), None) => findings.loosen(place, change("removed")),
        (Some(old), Some(new)) if old % new != 0.0 => findings.tighten(place, change("changed")),
        (Some(old), Some(new)) if new % old != 0.0 => findings.loosen(place, change("changed")),
        (Some(_), Some(_)) | (None, None) => {}
    }
}

fn pattern(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    match (old["pattern"].as_str(), new["pattern"].as_str()) {
        (None, Some(new)) => findings.tighten(place, format!("a pattern is added: {new}")),
        (Some(_), None) => findings.loosen(place, "the pattern is removed"),
        (Some(old), Some(new)) if old != new => {
            findings.tighten(place, format!("the pattern {old} is now {new}"));
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
}

fn format(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    let of = |schema: &Value| schema["format"].as_str().unwrap_or("none").to_owned();
    let (old, new) = (of(old), of(new));
    if old == new {
        return;
    }
    let change = format!("the format {old} is now {new}");
    if CHECKED.contains(&&*new) || is_narrower(&old, &new) {
        findings.tighten(place, change);
    } else {
        findings.loosen(place, change);
    }
}

/// Whether clients that read a number as `new` cannot read all of `old`. The API server does not check these formats.
fn is_narrower(old: &str, new: &str) -> bool {
    let width = |format: &str| match format {
        "int8" | "uint8" => 1,
        "int16" | "uint16" => 2,
        "int32" | "uint32" | "float" => 4,
        _ => 8,
    };
    width(new) < width(old)
}

fn values(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    match (old["enum"].as_array(), new["enum"].as_array()) {
        (None, Some(new)) => {
            findings.tighten(place, format!("only these values are valid now: {}", listed(new)));
        }
        (Some(_), None) => findings.loosen(place, "any value is valid now"),
        (Some(old), Some(new)) => {
            let without = |one: &[Value], other: &[Value]| -> Vec<Value> {
                one.iter().filter(|value| !other.contains(value)).cloned().collect()
            };
            let (gone, added) = (without(old, new), without(new, old));
            if !gone.is_empty() {
                findings.tighten(place, format!("no longer valid: {}", listed(&gone)));
            }
            if !added.is_empty() {
                findings.loosen(place, format!("also valid: {}", listed(&added)));
            }
        }
        (None, None) => {}
    }
}

fn shown(value: &Value) -> String {
    if value.is_null() { "(none)".to_owned() } else { value.to_string() }
}

fn listed(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
