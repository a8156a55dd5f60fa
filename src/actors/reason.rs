//! Translates changes of objects into triggers and causes of reconciles. Pure.

use crate::{
    diff,
    history::{Cause, ObjectChange},
    object::{K8sType, Object},
    operator::{ChildConfig, OperatorConfig},
    schedule::Trigger,
    store::Change,
};

/// The trigger of a change of a parent: its deletion, its own change, or only one of its status.
pub(super) fn parent_trigger(before: Option<&Object>, after: &Object) -> Trigger {
    let is_own = before.is_none_or(|before| is_own_change(before, after));
    match (is_own, after.is_deleting()) {
        (true, true) => Trigger::Deletion,
        (true, false) => Trigger::Parent,
        (false, _) => Trigger::ChildOrStatus,
    }
}

fn is_own_change(before: &Object, after: &Object) -> bool {
    before.uid() != after.uid()
        || before.generation() != after.generation()
        || after.generation().is_none()
        || before.is_deleting() != after.is_deleting()
        || ["labels", "annotations", "finalizers"]
            .iter()
            .any(|field| before.metadata_text(field) != after.metadata_text(field))
}

pub(super) fn parent_cause(before: Option<&Object>, now: &Object) -> Cause {
    if now.is_deleting() && before.is_some_and(|before| !before.is_deleting()) {
        return Cause::ParentDeleted;
    }
    let from = before.map(|before| before.resource_version().clone());
    Cause::ParentChanged { from, to: now.resource_version().clone() }
}

/// The trigger of a change of a child: whether it was deleted or only changed. An object of the same name
/// with another uid is another child.
pub(super) fn child_trigger(change: &Change) -> Trigger {
    let still_exists =
        |before: &Object| change.after.as_ref().is_some_and(|it| it.uid() == before.uid());
    let was_deleted = change.before.as_ref().is_some_and(|before| !still_exists(before));
    if was_deleted { Trigger::ChildGone } else { Trigger::ChildOrStatus }
}

pub(super) fn child_cause(ty: &K8sType, change: &Change) -> Cause {
    Cause::ChildChanged(Box::new(object_change(ty, change)))
}

pub(super) fn object_change(ty: &K8sType, change: &Change) -> ObjectChange {
    let version =
        |side: &Option<Object>| side.as_ref().map(|object| object.resource_version().clone());
    ObjectChange {
        ty: ty.clone(),
        key: change.object().key().clone(),
        from: version(&change.before),
        to: version(&change.after),
    }
}

/// Whether a change of a child does not concern its parent.
pub(super) fn is_ignored(operator: &OperatorConfig, child: ChildConfig, change: &Change) -> bool {
    child.ignores_status
        && (child.ignores_readiness || !changes_readiness(operator, change))
        && is_of_status_only(change)
}

fn changes_readiness(operator: &OperatorConfig, change: &Change) -> bool {
    let state = |side: &Option<Object>| side.as_ref().map(|child| operator.ready_state(child));
    state(&change.before) != state(&change.after)
}

/// Whether nothing but the status of an object has changed.
pub(super) fn is_of_status_only(change: &Change) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return false };
    diff::differ_in_status_only(before, after)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::object::KeptManagers;

    fn parent(version: &str, change: impl FnOnce(&mut Value)) -> Object {
        let mut value = json!({
            "metadata": {
                "name": "p", "uid": "u", "resourceVersion": version, "generation": 1,
                "labels": {"a": "b"},
            },
            "status": {"phase": "old"},
        });
        change(&mut value);
        let ty = K8sType::cluster_scoped("example.com/v1", "App", "apps");
        Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
    }

    /// A parent that waits for the deletion of a child is not woken by changes of the child.
    #[test]
    fn a_deleted_child_is_distinguished_from_a_changed_one() {
        let (old, new) = (parent("1", |_| {}), parent("2", |_| {}));
        let namesake = parent("3", |parent| parent["metadata"]["uid"] = json!("other"));
        for (before, after, expected) in [
            (None, Some(&new), Trigger::ChildOrStatus),
            (Some(&old), Some(&new), Trigger::ChildOrStatus),
            (Some(&old), None, Trigger::ChildGone),
            (Some(&old), Some(&namesake), Trigger::ChildGone),
        ] {
            let (before, after) = (before.cloned(), after.cloned());
            let change = Change { before, after, parents: <_>::default() };
            assert_eq!(child_trigger(&change), expected, "{change:?}");
        }
    }

    /// `ChildOrStatus` does not shorten the backoff after an error.
    #[test]
    fn what_only_a_status_says_is_no_change_of_the_parent_itself() {
        type Change = fn(&mut Value);
        let table: [(Change, Trigger); 7] = [
            (|parent| parent["status"]["phase"] = json!("new"), Trigger::ChildOrStatus),
            (|parent| parent["metadata"]["generation"] = json!(2), Trigger::Parent),
            (|parent| parent["metadata"]["labels"] = json!({}), Trigger::Parent),
            (|parent| parent["metadata"]["annotations"] = json!({"a": "b"}), Trigger::Parent),
            (|parent| parent["metadata"]["finalizers"] = json!(["a"]), Trigger::Parent),
            (|parent| parent["metadata"]["uid"] = json!("other"), Trigger::Parent),
            (|parent| parent["metadata"]["deletionTimestamp"] = json!("now"), Trigger::Deletion),
        ];
        let before = parent("1", |_| {});
        for (change, expected) in table {
            let after = parent("2", change);
            assert_eq!(parent_trigger(Some(&before), &after), expected, "{}", after.json());
        }
        assert_eq!(parent_trigger(None, &before), Trigger::Parent, "it is new");
        let without_generation = |phase: &'static str| {
            parent(phase, move |parent| {
                parent["metadata"].as_object_mut().unwrap().remove("generation");
                parent["status"]["phase"] = json!(phase);
            })
        };
        let (before, after) = (without_generation("1"), without_generation("2"));
        assert_eq!(
            parent_trigger(Some(&before), &after),
            Trigger::Parent,
            "the spec may have changed"
        );
    }

    #[test]
    fn a_change_is_of_the_status_only_if_no_other_field_changed() {
        type Edit = fn(&mut Value);
        let table: [(Edit, bool); 6] = [
            (|child| child["status"]["phase"] = json!("new"), true),
            (|child| child["spec"] = json!({"a": "b"}), false),
            (|child| child["metadata"]["labels"] = json!({}), false),
            (|child| child["metadata"]["finalizers"] = json!(["a"]), false),
            (|child| child["metadata"]["uid"] = json!("other"), false),
            (|child| child["metadata"]["deletionTimestamp"] = json!("now"), false),
        ];
        let of = |before: Option<&Object>, after: Option<Object>| {
            let parents = <_>::default();
            is_of_status_only(&Change { before: before.cloned(), after, parents })
        };
        let before = parent("1", |_| {});
        for (edit, expected) in table {
            let after = parent("2", edit);
            assert_eq!(of(Some(&before), Some(after.clone())), expected, "{}", after.json());
        }
        assert!(!of(None, Some(before.clone())) && !of(Some(&before), None), "created or deleted");
    }

    #[test]
    fn a_status_is_ignored_as_long_as_it_does_not_change_the_readiness() {
        let child =
            |version: &str, status: Value| parent(version, |child| child["status"] = status).into();
        let ready = |status: &str, reason: &str| json!({"conditions": [{"type": "Ready", "status": status, "reason": reason}]});
        let plain = ChildConfig::apply();
        let operator = OperatorConfig::new("op", parent("1", |_| {}).ty().clone());
        let (of_status, of_both) = (plain.ignoring_status(), plain.ignoring_readiness());
        let of_both = of_both.ignoring_status();
        for (config, after, is_ignored) in [
            (plain, ready("False", "Starting"), false),
            (plain.ignoring_readiness(), ready("True", "Well"), false),
            (of_status, ready("False", "Starting"), true),
            (of_status, ready("True", "Well"), false),
            (of_both, ready("True", "Well"), true),
        ] {
            let (before, after) = (child("1", ready("False", "Pulling")), child("2", after));
            let change = Change { before, after, parents: <_>::default() };
            let seen = super::is_ignored(&operator, config, &change);
            assert_eq!(seen, is_ignored, "{config:?} {change:?}");
        }
        let change = Change { before: child("1", json!({})), after: None, parents: <_>::default() };
        assert!(!super::is_ignored(&operator, of_both, &change), "it is gone");
    }
}
