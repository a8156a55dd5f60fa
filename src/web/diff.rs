//! Compares desired and live children: what a reconcile would change. It shows only desired fields and
//! fields that the operator owns and no longer desires, and never a secret value.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::redact::Secrets;
use crate::{
    board::{Board, Preview},
    diff::{Difference, compare},
    object::{K8sType, Object, REDACTED},
    operator::OperatorName,
    plan::{ChildId, Deletion, DeletionReason, Step, Write},
};

/// What a reconcile would do with a child.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Preview")]
pub(super) struct PreviewView {
    /// `Create`, `Update`, `Recreate` or `Delete`; `Conflict` if the object already exists and is
    /// not owned, or if other field managers own some of its fields; `Keep` for a child that the
    /// handler only ensures, and that exists.
    pub(super) action: &'static str,
    /// Why it would not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// The differences between desired and live; only some if they are very many.
    pub(super) differences: Vec<DifferenceView>,
}

/// A difference between desired and live.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Difference")]
pub(super) struct DifferenceView {
    /// The JSON path.
    pub(super) path: String,
    /// The desired value; absent if the field is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) desired: Option<Value>,
    /// The live value; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) live: Option<Value>,
}

/// For a longer value only its length is shown.
const MAX_VALUE: usize = 2048;

pub(super) struct Comparing<'a> {
    pub(super) board: &'a Board,
    pub(super) operator: &'a OperatorName,
    pub(super) secrets: &'a Secrets,
}

/// The steps of a reconcile, by child. Children that it would not modify are absent.
pub(super) fn by_child(
    preview: &Preview,
    comparing: &Comparing<'_>,
) -> HashMap<ChildId, PreviewView> {
    let Preview { plan, live, foreign, contested, parent: _ } = preview;
    let view = |step: &Step| {
        let id = step.id().clone();
        let live = live.get(&id);
        let view = match step {
            Step::Create(_) if let Some(why) = foreign.get(&id) => {
                PreviewView::of_conflict(comparing.secrets.text(why))
            }
            Step::Create(write) => PreviewView::of_write("Create", write, None, comparing),
            Step::Update(write) => PreviewView::of_write("Update", write, live, comparing),
            Step::Delete(deletion) => PreviewView::of_deletion(deletion, live, comparing),
        };
        let view = match contested.get(&id) {
            Some(why) => view.of_contested(comparing.secrets.text(why)),
            None => view,
        };
        (id, view)
    };
    let ensured = plan.ensured.iter().map(|id| (id.clone(), PreviewView::of_ensured()));
    plan.steps.iter().map(view).chain(ensured).collect()
}

impl PreviewView {
    pub(super) fn changes_something(&self) -> bool {
        self.why.is_none()
    }

    fn of_ensured() -> Self {
        let why = "the handler only ensures that it exists, so it is left as it is";
        Self { action: "Keep", why: Some(why.to_owned()), differences: Vec::new() }
    }

    fn of_conflict(why: String) -> Self {
        Self { action: "Conflict", why: Some(why), differences: Vec::new() }
    }

    /// The desired values are shown, too.
    fn of_contested(self, why: String) -> Self {
        Self { why: Some(why), action: "Conflict", ..self }
    }

    fn of_write(
        action: &'static str,
        write: &Write,
        live: Option<&Object>,
        comparing: &Comparing<'_>,
    ) -> Self {
        let differences = comparing.differences(write, live);
        Self { action, why: None, differences }
    }

    fn of_deletion(deletion: &Deletion, live: Option<&Object>, comparing: &Comparing<'_>) -> Self {
        match &deletion.why {
            DeletionReason::Undesired => {
                Self { action: "Delete", why: None, differences: Vec::new() }
            }
            DeletionReason::Recreate { instead_of, .. }
            | DeletionReason::Immutable { instead_of, .. } => {
                Self::of_write("Recreate", instead_of, live, comparing)
            }
        }
    }
}

impl Comparing<'_> {
    fn differences(&self, write: &Write, live: Option<&Object>) -> Vec<DifferenceView> {
        let (ty, desired, defaults) = (&write.id.ty, &write.desired(), write.defaults());
        let tree = live.map_or_else(|| json!({}), Object::to_value);
        let fields = live.and_then(|live| live.applied_fields(self.operator.as_str()));
        let shown = (self.hidden(ty, desired), self.hidden(ty, &tree));
        let view = |Difference { path, desired: wanted, live: found }: Difference<'_>| {
            let wanted = wanted.map(|value| (value, counterpart(desired, &shown.0, value)));
            let found = found.map(|value| (value, counterpart(&tree, &shown.1, value)));
            between(self.secrets.path(&path), wanted, found)
        };
        compare(ty, desired, &tree, fields.as_ref(), defaults).into_iter().map(view).collect()
    }

    /// An object of a type without secret values.
    pub(super) fn hidden(&self, ty: &K8sType, tree: &Value) -> Value {
        self.secrets.hidden_in(self.board, ty, tree.clone())
    }
}

/// The difference between two values. Each value comes with its redacted form.
pub(super) fn between(
    path: String,
    desired: Option<(&Value, Value)>,
    live: Option<(&Value, Value)>,
) -> DifferenceView {
    let (desired, live) = as_secret_as_each_other(desired, live);
    DifferenceView { path, desired: desired.map(bounded), live: live.map(bounded) }
}

/// If one of the two is secret, the other may be its previous or next value, and is hidden too.
fn as_secret_as_each_other(
    desired: Option<(&Value, Value)>,
    live: Option<(&Value, Value)>,
) -> (Option<Value>, Option<Value>) {
    let is_secret =
        |it: &Option<(&Value, Value)>| it.as_ref().is_some_and(|(value, shown)| *value != shown);
    let is_any_secret = is_secret(&desired) || is_secret(&live);
    let shown = |it: Option<(&Value, Value)>| {
        it.map(
            |(value, shown)| {
                if is_any_secret && *value == shown { REDACTED.into() } else { shown }
            },
        )
    };
    (shown(desired), shown(live))
}

/// The value in the redacted tree at the position of a value in the original. Values are shown only
/// from redacted trees.
fn counterpart(tree: &Value, shown: &Value, value: &Value) -> Value {
    find(tree, shown, value).unwrap_or_else(|| REDACTED.into())
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
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::{
        board::TypeState,
        object::{KeptManagers, ObjectKey, SecretFields},
        operator::ChildConfig,
        plan::Plan,
        store::Store,
    };

    const SENTINEL: &str = "sentinel-value";
    const MARKED: &str = "marked-value";

    fn app() -> K8sType {
        K8sType::namespaced("example.com/v1", "App", "apps")
    }

    /// Its password is marked.
    fn parent() -> Object {
        let metadata = json!({"name": "p", "namespace": "ns", "uid": "p", "resourceVersion": "1"});
        let parent = json!({"metadata": metadata, "password": MARKED});
        Object::from_value(&app(), &parent, &KeptManagers::default()).unwrap()
    }

    fn board(child: &K8sType) -> Board {
        let board = Board::new();
        for ty in [app(), child.clone()] {
            board.add_store(Store::new(ty, BTreeSet::new()).reader());
        }
        let marks = json!({"properties": {"password": {"format": "password"}}});
        let secrets = Some(SecretFields::of_schema(&marks).into());
        board.set_type(&app(), TypeState { secrets, ..TypeState::default() });
        board
    }

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
        let board = board(&ty);
        let secrets = Secrets::of(&board, &parent());
        let comparing = Comparing { board: &board, operator: &operator, secrets: &secrets };
        let write = Write::new(ChildId::of(&live), desired, 0, ChildConfig::apply());
        let found = comparing.differences(&write, Some(&live));
        serde_json::to_value(found).unwrap()
    }

    #[test]
    fn desired_and_owned_fields_are_compared_and_fields_of_others_are_not() {
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
    fn a_secret_shows_the_paths_of_differences_and_no_value() {
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
    fn if_one_side_is_secret_the_other_is_hidden_too() {
        let live = json!({"key": "password-of-yesterday", "gone": "fine"});
        let desired = json!({"key": MARKED, "more": format!("is {MARKED}"), "fine": "shown"});
        let shown = shown("ConfigMap", &desired, &live);
        let expected = json!([
            {"path": ".data.fine", "desired": "shown"},
            {"path": ".data.key", "desired": "(redacted)", "live": "(redacted)"},
            {"path": ".data.more", "desired": "is (redacted)"},
            {"path": ".data.gone", "live": "fine"},
        ]);
        assert_eq!(shown, expected);
    }

    #[test]
    fn only_the_length_of_a_long_value_is_shown() {
        let shown = shown("ConfigMap", &json!({"key": "x".repeat(5000)}), &json!({"key": "y"}));
        assert_eq!(shown[0]["desired"], "(5002 bytes)");
    }

    #[test]
    fn an_ensured_child_that_exists_is_shown_as_left_as_it_is() {
        let ty = K8sType::namespaced("v1", "Secret", "secrets");
        let (operator, board) = (OperatorName::new("op").unwrap(), board(&ty));
        let secrets = Secrets::of(&board, &parent());
        let comparing = Comparing { board: &board, operator: &operator, secrets: &secrets };
        let id = ChildId { ty, key: ObjectKey::namespaced("ns", "a") };
        let plan = Plan { ensured: vec![id.clone()], ..Plan::default() };
        let (live, foreign, contested, parent) = <_>::default();
        let shown = by_child(&Preview { plan, live, foreign, contested, parent }, &comparing);
        let why = "the handler only ensures that it exists, so it is left as it is";
        let expected = json!({"action": "Keep", "why": why, "differences": []});
        assert_eq!(serde_json::to_value(&shown[&id]).unwrap(), expected);
        assert!(!shown[&id].changes_something());
    }

    #[test]
    fn a_child_that_exists_and_is_not_owned_is_shown_as_a_conflict() {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let (operator, board) = (OperatorName::new("op").unwrap(), board(&ty));
        let secrets = Secrets::of(&board, &parent());
        let comparing = Comparing { board: &board, operator: &operator, secrets: &secrets };
        let id = ChildId { ty, key: ObjectKey::namespaced("ns", "a") };
        let shown = |foreign: BTreeMap<ChildId, String>, contested| {
            let body = json!({"metadata": {"name": "a", "namespace": "ns"}, "data": {"a": "b"}});
            let write = Write::new(id.clone(), body, 0, ChildConfig::apply());
            let steps = vec![Step::Create(write)];
            let plan = Plan { steps, ..Plan::default() };
            let live = BTreeMap::new();
            let preview = Preview { plan, live, foreign, contested, parent: None };
            serde_json::to_value(&by_child(&preview, &comparing)[&id]).unwrap()
        };
        let none = BTreeMap::new;
        assert_eq!(shown(none(), none())["action"], "Create");
        let known = BTreeMap::from([(id.clone(), format!("of {MARKED}"))]);
        let expected = json!({"action": "Conflict", "why": "of (redacted)", "differences": []});
        assert_eq!(shown(known.clone(), none()), expected);
        let contested = shown(none(), known);
        assert_eq!([&contested["action"], &contested["why"]], ["Conflict", "of (redacted)"]);
        let desired = json!({"path": ".data", "desired": {"a": "b"}});
        assert!(contested["differences"].as_array().unwrap().contains(&desired), "{contested}");
    }
}
