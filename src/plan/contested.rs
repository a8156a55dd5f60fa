//! Fields that other field managers own and that the child's [`ConflictPolicy`] leaves to them:
//! which these are, what remains to be applied without them, and how long that is valid. Reads the
//! server's paths; does not send anything.

use std::fmt;

use serde_json::{Map, Value};

use super::{ChildId, Write, ownership};
use crate::{
    diff::{
        fingerprint,
        path::{self, MAX_PATHS},
    },
    object::{Object, quoted},
    operator::{ConflictPolicy, Labels},
};

/// A field that another field manager owns with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeldField {
    /// The path, as the server writes it.
    pub(crate) path: String,
    /// `None` where the server did not name it.
    pub(crate) manager: Option<String>,
}

impl fmt::Display for HeldField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let manager = self.manager.as_deref().map_or_else(|| "another manager".to_owned(), quoted);
        write!(f, "{} ({manager})", self.path)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Contested {
    pub(crate) id: ChildId,
    /// The hash of the desired state, see [`Write::desired_hash`].
    pub(crate) desired_hash: u64,
    pub(crate) left: Object,
    pub(crate) held: Vec<HeldField>,
    /// Whether the other fields were applied, or nothing.
    pub(crate) policy: ConflictPolicy,
}

impl Contested {
    /// The fields that others own, without the name of the child.
    pub(crate) fn why(&self) -> impl fmt::Display {
        HeldFields(self)
    }

    /// Whether others own the value at a path of ours.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let path = path::as_the_server_writes(path);
        let is_it = |held: &HeldField| {
            let rest = path.strip_prefix(&held.path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.held.iter().any(is_it)
    }

    /// Whether the conflict was found on the object as it is now: only its status and versions may
    /// have changed. A manager that gives up a field may leave its value as it is.
    pub(super) fn is_about(&self, live: &Object) -> bool {
        self.left == *live || fingerprint::differ_in_status_only(&self.left, live)
    }
}

impl fmt::Display for Contested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.why())
    }
}

struct HeldFields<'a>(&'a Contested);

impl fmt::Display for HeldFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contested { held, policy, .. } = self.0;
        let what = match policy {
            ConflictPolicy::Report => "not written: other field managers own",
            ConflictPolicy::Yield | ConflictPolicy::Force => "other field managers own",
        };
        write!(f, "{what} ")?;
        for (index, held) in held.iter().take(MAX_PATHS).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{held}")?;
        }
        match held.len().saturating_sub(MAX_PATHS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// The write without the fields that others own; `None` where a path cannot be found in it. The
/// owner reference and our labels stay.
pub(crate) fn without(write: &Write, held: &[HeldField]) -> Option<Write> {
    // Several managers may own one field, and one a part of what another owns.
    let mut paths: Vec<_> = held.iter().map(|held| held.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut rest = write.clone();
    let mut removed: Vec<&str> = Vec::new();
    for path in paths {
        if remove(&mut rest.body, path) {
            removed.push(path);
        } else if !removed.iter().any(|outer| path.starts_with(outer)) {
            return None;
        }
    }
    Some(rest)
}

/// Whether a path is an owner reference or a label of ours, which are never left to others.
pub(crate) fn is_ownership_field(path: &str, labels: &Labels) -> bool {
    ownership::is_claim(path, labels)
        || ownership::labels_of_ours(labels)
            .iter()
            .any(|label| path == format!(".metadata.labels.{label}"))
}

/// Removes the value at a path of the server, and the fields that become empty. The server does not
/// quote names, so dots in them make a path ambiguous: the path that exists is meant.
fn remove(value: &mut Value, path: &str) -> bool {
    match value {
        Value::Object(fields) => remove_field(fields, path),
        Value::Array(items) => remove_item(items, path),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn remove_field(fields: &mut Map<String, Value>, path: &str) -> bool {
    let Some(path) = path.strip_prefix('.') else { return false };
    let leads = |name: &&String| {
        path.strip_prefix(name.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let mut names: Vec<String> = fields.keys().filter(leads).cloned().collect();
    names.sort_unstable_by_key(|name| std::cmp::Reverse(name.len()));
    names.iter().any(|name| {
        let rest = &path[name.len()..];
        if rest.is_empty() {
            return fields.remove(name).is_some();
        }
        let inner = fields.get_mut(name);
        let is_removed = inner.is_some_and(|inner| remove(inner, rest));
        if is_removed && fields.get(name).is_some_and(is_empty) {
            fields.remove(name);
        }
        is_removed
    })
}

fn remove_item(items: &mut Vec<Value>, path: &str) -> bool {
    let Some((keys, rest)) = path::keys(path) else { return false };
    let differs = |item: &Value, (name, key): (&String, &Value)| {
        item.get(name).is_some_and(|value| value != key)
    };
    let named = |item: &Value| keys.keys().filter(|name| item.get(*name).is_some()).count();
    // An item may lack a key that the server defaults: the item with most of the keys is meant.
    let best = items
        .iter()
        .enumerate()
        .filter(|(_, item)| named(item) > 0 && !keys.iter().any(|key| differs(item, key)))
        .max_by_key(|(index, item)| (named(item), std::cmp::Reverse(*index)));
    let Some(at) = best.map(|(index, _)| index) else { return false };
    if rest.is_empty() {
        items.remove(at);
        return true;
    }
    remove(&mut items[at], rest)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn held_fields_are_removed_and_the_others_stay() {
        let body = || {
            json!({
                "metadata": {"labels": {"a.b/c": "1", "a": "2"}, "annotations": {"n": "1"}},
                "spec": {
                    "replicas": 3,
                    "ports": [
                        {"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "name": "t"},
                    ],
                },
            })
        };
        for (path, expected) in [
            (".spec.replicas", json!({"spec": {"replicas": null}})),
            (".metadata.labels.a.b/c", json!({"metadata": {"labels": {"a.b/c": null}}})),
            (".metadata.annotations.n", json!({"metadata": {"annotations": null}})),
            (".metadata.labels", json!({"metadata": {"labels": null}})),
        ] {
            let (mut value, mut expected_value) = (body(), body());
            assert!(remove(&mut value, path), "{path}");
            json_patch(&mut expected_value, &expected);
            assert_eq!(value, expected_value, "{path}");
        }
        let mut value = body();
        assert!(remove(&mut value, ".spec.ports[port=53,protocol=\"TCP\"].name"));
        assert!(remove(&mut value, ".spec.ports[port=53,protocol=\"UDP\"]"));
        assert_eq!(value["spec"]["ports"], json!([{"port": 53}]));
        for path in [
            "",
            ".",
            ".spec.x",
            ".spec.replicas.x",
            ".spec.ports[0]",
            ".spec.ports[port=9]",
            "spec",
        ] {
            assert!(!remove(&mut body(), path), "{path}");
        }
    }

    #[test]
    fn held_fields_are_found_by_our_paths_too() {
        let held =
            |path: &str| HeldField { path: path.to_owned(), manager: Some("m`e".to_owned()) };
        let left = Object::from_value(
            &K8sType::namespaced("v1", "Pod", "pods"),
            &json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}}),
            &KeptManagers::default(),
        );
        let left = left.unwrap();
        let held =
            vec![held(".metadata.annotations.a.b/c"), held(".spec.x"), held(".data[k=\"v\"]")];
        let id = ChildId::of(&left);
        let policy = ConflictPolicy::Yield;
        let contested = Contested { id, desired_hash: 0, left, held, policy };
        for (path, is_held) in [
            (".metadata.annotations[\"a.b/c\"]", true),
            (".metadata.annotations[\"a.b/d\"]", false),
            (".spec.x", true),
            (".spec.x.y", true),
            (".spec.xy", false),
            (".data[k=\"v\"].z", true),
            (".data[k=\"w\"]", false),
        ] {
            assert_eq!(contested.holds(path), is_held, "{path}");
        }
        // A backtick in the name of a manager does not end the quotes.
        assert!(contested.to_string().contains(".spec.x (`m'e`)"), "{contested}");
    }

    fn json_patch(value: &mut Value, patch: &Value) {
        for (name, inner) in patch.as_object().unwrap() {
            if inner.is_null() {
                value.as_object_mut().unwrap().remove(name);
            } else {
                json_patch(&mut value[name], inner);
            }
        }
    }
}
