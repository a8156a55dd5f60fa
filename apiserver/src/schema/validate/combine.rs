//! `anyOf`, `oneOf` and `allOf`: which branch failed, and which errors are reported.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind, paths::LocationSegment};
use serde_json::Value;

use super::walk::step;
use crate::schema::{FieldPath, go_value};

/// That no branch, or more than one, is valid.
pub(super) fn sentence(kind: &Kind, name: &str) -> String {
    let name = go_value::quote(name);
    match kind {
        Kind::OneOfNotValid { .. } => {
            format!("{name} must validate one and only one schema (oneOf). Found none valid")
        }
        Kind::OneOfMultipleValid { context } => {
            let valid = context.iter().filter(|branch| branch.is_empty()).count();
            format!(
                "{name} must validate one and only one schema (oneOf). Found {valid} valid \
                 alternatives"
            )
        }
        _ => format!("{name} must validate at least one schema (anyOf)"),
    }
}

/// Of several failed branches, the errors of the one that checks most of the value.
pub(super) fn best_branch<'e>(
    root: &Value,
    error: &'e ValidationError<'_>,
) -> Option<&'e [ValidationError<'static>]> {
    let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }) = error.kind() else {
        return None;
    };
    let schemas = root.pointer(error.schema_path().as_str());
    let schemas = schemas.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let weight = |index: usize| schemas.get(index).map_or(0, |s| checks(s, error.instance()));
    let best = (0..context.len()).rev().max_by_key(|index| weight(*index));
    best.map(|best| context[best].as_slice())
}

/// How many checks a schema makes of a value.
fn checks(schema: &Value, value: &Value) -> usize {
    let own = 5 + usize::from(schema.get("type").is_some());
    let below: usize = match value {
        Value::Object(fields) => fields
            .iter()
            .filter_map(|(name, value)| Some(checks(schema.get("properties")?.get(name)?, value)))
            .sum(),
        Value::Array(items) => {
            let item = schema.get("items");
            items.iter().filter_map(|value| item.map(|item| checks(item, value))).sum()
        }
        _ => 0,
    };
    own + below
}

/// For each `allOf` with a failed branch: the path of the value, and whether all branches failed.
///
/// Only those below the path `above` in the schema.
pub(super) fn failed_all_ofs(
    root: &Value,
    errors: &[&ValidationError<'_>],
    above: &str,
) -> Vec<(String, bool)> {
    let mut failed: BTreeMap<(String, String), BTreeSet<usize>> = BTreeMap::new();
    for error in errors {
        let all_ofs = all_ofs_above(error).into_iter();
        for (all_of, path, branch) in all_ofs.filter(|(at, ..)| at.len() > above.len()) {
            failed.entry((path, all_of)).or_default().insert(branch);
        }
    }
    let with_total = failed.into_iter().map(|((path, all_of), failed)| {
        let branches = root.pointer(&all_of).and_then(Value::as_array).map_or(0, Vec::len);
        (path, failed.len() == branches)
    });
    with_total.collect()
}

/// Follows an error from the root and records each `allOf` on the path: its position in the schema, the
/// value, and the branch.
fn all_ofs_above(error: &ValidationError<'_>) -> Vec<(String, String, usize)> {
    let mut found = Vec::new();
    let mut instance = error.instance_path().segments();
    let mut value = FieldPath::default();
    let mut at = String::new();
    let mut schema = error.schema_path().segments();
    while let Some(LocationSegment::Property(keyword)) = schema.next() {
        at = format!("{at}/{}", escape(&keyword));
        match keyword.as_ref() {
            "items" | "additionalProperties" => value = descend(&value, instance.next()),
            "properties" => {
                value = descend(&value, instance.next());
                at.push_str(&schema.next().map_or(String::new(), |name| slash(&name)));
            }
            "allOf" | "anyOf" | "oneOf" => {
                let Some(LocationSegment::Index(branch)) = schema.next() else { break };
                if keyword == "allOf" {
                    found.push((at.clone(), value.to_plain(), branch));
                }
                at = format!("{at}/{branch}");
            }
            _ => break,
        }
    }
    found
}

fn descend(path: &FieldPath, segment: Option<LocationSegment<'_>>) -> FieldPath {
    segment.map_or_else(|| path.clone(), |segment| step(path, &segment))
}

fn slash(segment: &LocationSegment<'_>) -> String {
    format!("/{}", escape(&segment.to_string()))
}

fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}
