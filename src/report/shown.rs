//! The conditions in the status of a parent.

use serde_json::Value;

use crate::object::Object;

/// The condition of a type. Most parents have only `Synced` and `Ready`, and a text search is faster than a parser.
pub(super) fn shown(parent: &Object, ty: &str) -> Option<Value> {
    if !parent.json().contains(ty) {
        return None;
    }
    // Others may have written any value.
    let Value::Object(mut status) = parent.field("status")? else { return None };
    let Value::Array(mut conditions) = status.remove("conditions")? else { return None };
    conditions.iter().position(|it| it["type"] == ty).map(|at| conditions.swap_remove(at))
}

pub(super) fn reason_shown(parent: &Object, ty: &str) -> Option<String> {
    shown(parent, ty)?["reason"].as_str().map(str::to_owned)
}
