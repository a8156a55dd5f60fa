//! One entry per child, where that is configured: at most so many, those that need attention first.

use serde_json::{Map, Value};

use super::{ChildrenField, StatusInput, UndeclaredField, conditions::cut};
use crate::operator::{ChildState, ChildStatus};

pub(super) const FIELD: &str = "children";
/// How many children are not listed.
const OMITTED: &str = "childrenOmitted";
/// A status is read and written whole.
pub(super) const MAX_CHILDREN: usize = 100;
/// The conditions have the details.
const MAX_MESSAGE: usize = 256;

/// Removes the fields with our names from those of the handler. Returns whether their values are
/// the handler's own, rather than what it read.
pub(super) fn overrule(
    input: StatusInput<'_>,
    present: &Map<String, Value>,
    fields: &mut Map<String, Value>,
) -> bool {
    if matches!(input.children, ChildrenField::Off) {
        return false;
    }
    let theirs = [FIELD, OMITTED].map(|name| fields.remove(name).map(|value| (name, value)));
    theirs.into_iter().flatten().any(|(name, value)| {
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        !is_empty && present.get(name) != Some(&value)
    })
}

/// Puts the list into `status`.
pub(super) fn show(
    input: StatusInput<'_>,
    present: &Map<String, Value>,
    status: &mut Map<String, Value>,
    undeclared: &mut Vec<UndeclaredField>,
) {
    let children = match input.children {
        ChildrenField::Off => return,
        ChildrenField::Kept => {
            let kept = [FIELD, OMITTED].map(|name| Some((name, present.get(name)?.clone())));
            let kept = kept.into_iter().flatten();
            return status.extend(kept.map(|(name, value)| (name.to_owned(), value)));
        }
        ChildrenField::Listed(children) => children,
    };
    status.remove(FIELD);
    status.remove(OMITTED);
    if !input.schema.admits_list(FIELD) {
        return undeclared.push(UndeclaredField::own(FIELD));
    }
    let listed = bounded(children);
    let omitted = children.len() - listed.len();
    if !listed.is_empty() {
        let entries: Vec<Value> = listed.into_iter().map(|child| entry(input, child)).collect();
        status.insert(FIELD.to_owned(), Value::from(entries));
    }
    if omitted > 0 && !input.schema.admits(OMITTED) {
        undeclared.push(UndeclaredField::own(OMITTED));
    } else if omitted > 0 {
        status.insert(OMITTED.to_owned(), Value::from(omitted));
    }
}

fn bounded(children: &[ChildStatus]) -> Vec<&ChildStatus> {
    let is_synced = |child: &ChildStatus| child.state == ChildState::Synced;
    let others = children.iter().filter(|child| !is_synced(child)).count();
    let (mut others, mut synced) = (others.min(MAX_CHILDREN), MAX_CHILDREN.saturating_sub(others));
    let is_shown = |child: &&ChildStatus| {
        let left = if is_synced(child) { &mut synced } else { &mut others };
        let is_shown = *left > 0;
        *left = left.saturating_sub(1);
        is_shown
    };
    children.iter().filter(is_shown).collect()
}

fn entry(input: StatusInput<'_>, child: &ChildStatus) -> Value {
    let message = child.message.as_deref().map(|message| cut(message, MAX_MESSAGE));
    let child = ChildStatus { message, ..child.clone() };
    let mut value = serde_json::to_value(child).expect("texts become JSON");
    // A schema with fewer fields asks for fewer.
    let _ = input.schema.prune_item(FIELD, &mut value, "");
    if let Value::Object(fields) = &mut value {
        input.schema.default_item(FIELD, fields);
    }
    value
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, Object},
        operator::ConditionNames,
        reply::StatusSchema,
    };

    fn child(name: usize, state: ChildState) -> ChildStatus {
        let text = |text: &str| text.to_owned();
        let (api_version, kind, name) = (text("v1"), text("Pod"), name.to_string());
        ChildStatus { api_version, kind, namespace: None, name, state, message: None }
    }

    #[test]
    fn of_too_many_children_those_that_are_not_synced_are_listed() {
        for (synced, others, shown) in [
            (3, 2, (3, 2)),
            (MAX_CHILDREN, 2, (MAX_CHILDREN - 2, 2)),
            (5, MAX_CHILDREN + 1, (0, MAX_CHILDREN)),
            (0, 0, (0, 0)),
        ] {
            let mut children: Vec<_> =
                (0..synced).map(|at| child(at, ChildState::Synced)).collect();
            children.extend((0..others).map(|at| child(synced + at, ChildState::Failed)));
            let listed = bounded(&children);
            let others = listed.iter().filter(|child| child.state == ChildState::Failed).count();
            assert_eq!((listed.len() - others, others), shown);
            assert!(listed.is_sorted_by_key(|child| child.name.parse::<usize>().unwrap()));
        }
    }

    #[test]
    fn what_the_server_adds_to_an_entry_is_no_difference() {
        let text = json!({"type": "string"});
        let namespace = json!({"type": "string", "default": ""});
        let status = json!({"type": "object", "properties": {
            "children": {"type": "array", "items": {"type": "object", "properties": {
                "kind": text, "name": text, "namespace": namespace,
            }}},
        }});
        let schema = StatusSchema::from_open_api(Some(&status), true);
        let ty = K8sType::cluster_scoped("example.com/v1", "App", "apps");
        let parent = json!({"metadata": {
            "name": "a", "uid": "u", "resourceVersion": "7",
        }});
        let input = StatusInput {
            parent: &Object::from_value(&ty, &parent, &KeptManagers::default()).unwrap(),
            shared: None,
            handler: None,
            conditions: &[],
            cleared: &[],
            children: ChildrenField::Off,
            names: &ConditionNames::default(),
            beside: None,
            observed_generation: false,
            schema: &schema,
            now: "",
        };
        let expected = json!({"kind": "Pod", "name": "1", "namespace": ""});
        assert_eq!(entry(input, &child(1, ChildState::Synced)), expected);
    }
}
