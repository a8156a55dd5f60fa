//! Desired against live, child by child: what a run would change. Only what is desired, and what our
//! field manager holds and no longer wants; never a value that is secret.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::redact::redacted_tree;
use crate::{
    board::Preview,
    object::{K8sType, Object},
    operator::OperatorName,
    plan::{ChildId, Deletion, DeletionReason, Difference, Step, Write, compare},
};

/// What a run would do with a child.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Preview")]
pub(super) struct PreviewView {
    /// `Create`, `Update`, `Recreate` or `Delete`.
    pub(super) action: &'static str,
    /// Where desired and live differ; of very many some.
    pub(super) differences: Vec<DifferenceView>,
}

/// A place where desired and live differ.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Difference")]
pub(super) struct DifferenceView {
    /// The JSON path.
    pub(super) path: String,
    /// What it is to be; missing where it is to go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) desired: Option<Value>,
    /// What it is; missing where there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) live: Option<Value>,
}

/// A longer value is told by its length.
const MAX_VALUE: usize = 2048;

/// What a run would do, by the name of the child. What it would leave as it is, is not in it.
pub(super) fn by_child(
    preview: &Preview,
    operator: &OperatorName,
) -> HashMap<ChildId, PreviewView> {
    let Preview { plan, live } = preview;
    let view = |step: &Step| {
        let id = step.id().clone();
        let live = live.get(&id);
        let view = match step {
            Step::Create(write) => PreviewView::of_write("Create", write, None, operator),
            Step::Update(write) => PreviewView::of_write("Update", write, live, operator),
            Step::Delete(deletion) => PreviewView::of_deletion(deletion, live, operator),
        };
        (id, view)
    };
    plan.steps.iter().map(view).collect()
}

impl PreviewView {
    fn of_write(
        action: &'static str,
        write: &Write,
        live: Option<&Object>,
        operator: &OperatorName,
    ) -> Self {
        Self { action, differences: differences(&write.id.ty, &write.desired(), live, operator) }
    }

    fn of_deletion(deletion: &Deletion, live: Option<&Object>, operator: &OperatorName) -> Self {
        match &deletion.why {
            DeletionReason::Undesired => Self { action: "Delete", differences: Vec::new() },
            DeletionReason::Recreate { instead_of, .. }
            | DeletionReason::Immutable { instead_of, .. } => {
                Self::of_write("Recreate", instead_of, live, operator)
            }
        }
    }
}

fn differences(
    ty: &K8sType,
    desired: &Value,
    live: Option<&Object>,
    operator: &OperatorName,
) -> Vec<DifferenceView> {
    let tree = live.map_or_else(|| json!({}), Object::to_value);
    let fields = live.and_then(|live| live.applied_fields(operator.as_str()));
    let shown = (redacted_tree(ty, desired.clone()), redacted_tree(ty, tree.clone()));
    let view = |Difference { path, desired: wanted, live: found }: Difference<'_>| DifferenceView {
        path,
        desired: wanted.map(|value| bounded(counterpart(desired, &shown.0, value))),
        live: found.map(|value| bounded(counterpart(&tree, &shown.1, value))),
    };
    compare(ty, desired, &tree, fields.as_ref()).into_iter().map(view).collect()
}

/// The value of a redacted tree that stands where another one stands in the tree itself. Whatever
/// redaction hides is hidden here, too: the values that are shown are never taken from anywhere else.
fn counterpart(tree: &Value, shown: &Value, value: &Value) -> Value {
    find(tree, shown, value).unwrap_or_else(|| json!("(redacted)"))
}

fn find(tree: &Value, shown: &Value, value: &Value) -> Option<Value> {
    if std::ptr::eq(tree, value) {
        return Some(shown.clone());
    }
    match (tree, shown) {
        (Value::Object(fields), Value::Object(shown)) => {
            fields.iter().find_map(|(name, field)| find(field, shown.get(name)?, value))
        }
        (Value::Array(items), Value::Array(shown)) => {
            items.iter().zip(shown).find_map(|(item, shown)| find(item, shown, value))
        }
        _ => None,
    }
}

fn bounded(value: Value) -> Value {
    let length = value.to_string().len();
    if length > MAX_VALUE { json!(format!("({length} bytes)")) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::KeptManagers;

    const SENTINEL: &str = "sentinel-value";

    fn shown(kind: &str, desired: &Value, live: &Value) -> Value {
        let ty = K8sType::namespaced("v1", kind, &format!("{}s", kind.to_lowercase()));
        let mut object = json!({"metadata": {
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1",
            "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": {
                "f:data": {"f:gone": {}, "f:key": {}},
            }}],
        }});
        object["data"] = live.clone();
        let kept = KeptManagers::new(["op"]);
        let live = Object::from_value(&ty, &object, &kept).unwrap();
        let desired = json!({
            "apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "ns"},
            "data": desired,
        });
        let operator = OperatorName::new("op").unwrap();
        let found = differences(&ty, &desired, Some(&live), &operator);
        serde_json::to_value(found).unwrap()
    }

    #[test]
    fn what_is_desired_is_shown_beside_what_there_is_and_what_others_added_is_not() {
        let live = json!({"key": "old", "gone": "ours", "theirs": "x"});
        let shown = shown("ConfigMap", &json!({"key": "new", "more": "y"}), &live);
        assert_eq!(
            shown,
            json!([
                {"path": ".data.key", "desired": "new", "live": "old"},
                {"path": ".data.more", "desired": "y"},
                {"path": ".data.gone", "live": "ours"},
            ])
        );
    }

    #[test]
    fn a_secret_shows_where_it_differs_and_no_value() {
        let live = json!({"key": SENTINEL, "gone": SENTINEL});
        for desired in [json!({"key": "c2VudGluZWwtdmFsdWU="}), json!({"key": "other"})] {
            let shown = shown("Secret", &desired, &live);
            assert_eq!(shown[0]["path"], ".data.key");
            let text = shown.to_string();
            assert!(!text.contains(SENTINEL) && !text.contains("c2Vud"), "{text}");
            assert!(!text.contains("other"), "{text}");
        }
    }

    #[test]
    fn a_long_value_is_told_by_its_length() {
        let shown = shown("ConfigMap", &json!({"key": "x".repeat(5000)}), &json!({"key": "y"}));
        assert_eq!(shown[0]["desired"], "(5002 bytes)");
    }
}
