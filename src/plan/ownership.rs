//! Which parent an object belongs to, and how a child records that. Labels select and wake, they
//! prove nothing.

use serde_json::{Value, json};

use crate::{
    diff::{
        fingerprint,
        path::{self, Segment},
    },
    object::Object,
    operator::{
        BUCKET_LABEL, ChildConfig, Labels, ORPHAN_LABEL, OperatorConfig, OperatorName,
        UNTIL_FINALIZED,
    },
};

/// Whether a child belongs to the parent: the parent is its controller or, only where there is to be
/// no owner reference, we have applied our labels ourselves. There is none where Kubernetes allows
/// none, and on children that stay without their parent.
///
/// A copy of a child in another namespace may have the owner reference too.
pub(crate) fn is_ours(
    config: &OperatorConfig,
    operator: &OperatorName,
    parent: &Object,
    child: &Object,
) -> bool {
    let of_type = || config.child_config(child.ty());
    let is_labelled = || is_labelled_by_us(&config.labels, operator, parent, child);
    match (can_own(parent, child.namespace()), child.controller()) {
        (true, Some(controller)) => {
            controller == parent.uid() && claimant(config, operator, child).is_none()
        }
        // A child that stays without its parent, but whose type lost that option: it gets its reference back.
        (true, None) => {
            let stays = is_orphan(child)
                || is_until_finalized(child)
                || of_type().is_some_and(|it| it.orphan_on_delete);
            stays && is_labelled()
        }
        (false, Some(_)) => false,
        (false, None) => of_type().is_some_and(|it| it.delete_with_finalizer) && is_labelled(),
    }
}

/// The other operator whose child an object is, although the parent may be the same: it applied the
/// label with its name.
pub(crate) fn claimant(
    config: &OperatorConfig,
    operator: &OperatorName,
    child: &Object,
) -> Option<String> {
    if !child.is_applied_by_another(operator.as_str()) {
        return None;
    }
    let label = &config.labels.managed_by;
    let other = child.label(label).filter(|other| *other != operator.as_str())?.into_owned();
    let former = &config.predecessor;
    let is_former = former.field_managers.contains(&other)
        || former.finalizers.contains(&format!("operetta.dev/{other}"));
    let owned = child.applied_fields(&other).filter(|_| !is_former)?;
    owned.field("metadata")?.field("labels")?.field(label).map(|_| other)
}

/// Whether an object was a child that stays when its parent is deleted.
pub(crate) fn is_orphan(child: &Object) -> bool {
    child.label(ORPHAN_LABEL).is_some_and(|value| value == "true")
}

/// Whether an object was made by a finalization, and goes with the parent although that is not its
/// owner.
pub(crate) fn is_until_finalized(child: &Object) -> bool {
    child.label(ORPHAN_LABEL).is_some_and(|value| value == UNTIL_FINALIZED)
}

/// Whether Kubernetes deletes or orphans what the parent owns before the parent goes: it was deleted
/// with `--cascade=foreground` or `--cascade=orphan`. What its finalization needs must not be owned.
pub(crate) fn loses_owned_children(parent: &Object) -> bool {
    let is_of_collector = |held: &String| held == "foregroundDeletion" || held == "orphan";
    parent.is_deleting() && parent.finalizers().iter().any(is_of_collector)
}

/// Whether Kubernetes allows the parent to own objects in a namespace, or, for `None`, in none.
pub(crate) fn can_own(parent: &Object, namespace: Option<&str>) -> bool {
    parent.namespace().is_none() || parent.namespace() == namespace
}

/// Anybody can copy labels (the server copies them from Services to their slices); only we can have
/// applied them with our field manager.
fn is_labelled_by_us(
    labels: &Labels,
    operator: &OperatorName,
    parent: &Object,
    child: &Object,
) -> bool {
    let Some(fields) = child.applied_fields(operator.as_str()) else { return false };
    let Some(owned) = fields.field("metadata").and_then(|it| it.field("labels")) else {
        return false;
    };
    let uid = parent.uid().to_string();
    [(&labels.parent_uid, uid.as_str()), (&labels.managed_by, operator.as_str())].into_iter().all(
        |(label, value)| {
            child.label(label).as_deref() == Some(value) && owned.field(label).is_some()
        },
    )
}

/// Adds the labels and, where there is to be one, the owner reference to the body of a child whose
/// metadata is an object. Other owners stay; our labels replace the handler's.
pub(super) fn claim(
    body: &mut Value,
    parent: &Object,
    operator: &OperatorName,
    labels: &Labels,
    config: ChildConfig,
) {
    let metadata = &mut body["metadata"];
    metadata["labels"][&labels.parent_uid] = json!(parent.uid());
    metadata["labels"][&labels.managed_by] = json!(operator.as_str());
    let mark = mark(parent, config);
    set_label(metadata, ORPHAN_LABEL, mark.map(Value::from));
    let mut owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    let uid = parent.uid().to_string();
    owners.retain(|owner| owner["uid"] != uid);
    if can_own(parent, metadata["namespace"].as_str()) && mark.is_none() {
        owners.push(reference_to(parent));
    }
    set_owners(metadata, owners);
}

/// The value of the label on a child that the parent does not own.
pub(super) fn mark(parent: &Object, config: ChildConfig) -> Option<&'static str> {
    let stays = config.orphan_on_delete.then_some("true");
    stays.or_else(|| loses_owned_children(parent).then_some(UNTIL_FINALIZED))
}

pub(super) fn set_label(metadata: &mut Value, name: &str, value: Option<Value>) {
    match (value, metadata["labels"].as_object_mut()) {
        (Some(value), _) => metadata["labels"][name] = value,
        (None, Some(labels)) => drop(labels.remove(name)),
        (None, None) => {}
    }
}

pub(super) fn set_owners(metadata: &mut Value, owners: Vec<Value>) {
    if owners.is_empty() {
        metadata.as_object_mut().map(|fields| fields.remove("ownerReferences"));
    } else {
        metadata["ownerReferences"] = Value::from(owners);
    }
}

fn reference_to(parent: &Object) -> Value {
    json!({
        "apiVersion": parent.ty().api_version(),
        "kind": parent.ty().kind(),
        "name": parent.name(),
        "uid": parent.uid(),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The labels that only we set.
pub(super) fn labels_of_ours(labels: &Labels) -> [&str; 4] {
    [&labels.parent_uid, &labels.managed_by, ORPHAN_LABEL, BUCKET_LABEL]
}

/// The path of a label.
pub(super) fn path_of_label(name: &str) -> String {
    format!(".metadata.labels{}", path::render(&Segment::Field(name)))
}

/// Whether a path is an owner reference or a label of ours. A child that differs only there is
/// fixed in place, whatever the update strategy.
pub(super) fn is_claim(found: &str, labels: &Labels) -> bool {
    found.starts_with(".metadata.ownerReferences")
        || labels_of_ours(labels).into_iter().any(|name| found == path_of_label(name))
}

/// Whether two versions of a child differ at most in owner references, our labels, status and what
/// the server itself writes.
pub(crate) fn differ_in_claim_only(a: &Object, b: &Object, labels: &Labels) -> bool {
    a.uid() == b.uid() && unclaimed(a, labels) == unclaimed(b, labels)
}

fn unclaimed(child: &Object, labels: &Labels) -> Value {
    let mut rest = child.to_value();
    fingerprint::drop_volatile(&mut rest);
    if let Some(metadata) = rest["metadata"].as_object_mut() {
        metadata.remove("ownerReferences");
        if let Some(all) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
            all.retain(|name, _| !labels_of_ours(labels).contains(&name.as_str()));
        }
        metadata.retain(|_, value| *value != json!({}));
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, KeptManagers};

    const UID: &str = "operetta.dev/parent-uid";
    const BY: &str = "app.kubernetes.io/managed-by";

    fn object(kind: &str, namespace: &str, more: &Value) -> Object {
        let ty = K8sType::namespaced("v1", kind, kind);
        let mut value = json!({"metadata": {
            "name": "a", "namespace": namespace, "uid": "parent", "resourceVersion": "1",
        }});
        let metadata = value["metadata"].as_object_mut().unwrap();
        metadata.extend(more.as_object().unwrap().clone());
        Object::from_value(&ty, &value, &KeptManagers::new(["op"])).unwrap()
    }

    fn labelled(uid: &str, by: &str, fields: &Value) -> Value {
        json!({
            "labels": {UID: uid, BY: by},
            "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": {
                "f:metadata": {"f:labels": fields}, "f:data": {},
            }}],
        })
    }

    #[test]
    fn ownership_labels_are_recognized_with_and_without_a_prefix() {
        let plain = Labels { parent_uid: "parent".to_owned(), managed_by: "by".to_owned() };
        for (path, labels, is_ours) in [
            (".metadata.labels.parent", &plain, true),
            (".metadata.labels.by", &plain, true),
            (".metadata.labels.other", &plain, false),
            (".metadata.labels[\"operetta.dev/parent-uid\"]", &Labels::default(), true),
            (".metadata.ownerReferences", &plain, true),
        ] {
            assert_eq!(is_claim(path, labels), is_ours, "{path}");
        }
    }

    #[test]
    fn labels_count_only_where_no_owner_reference_can_be_and_only_if_we_applied_them() {
        let operator = OperatorName::new("op").unwrap();
        let parent = object("Parent", "ns", &json!({}));
        let both = json!({format!("f:{UID}"): {}, format!("f:{BY}"): {}});
        let ours = labelled("parent", "op", &both);
        let mut updated = ours.clone();
        updated["managedFields"][0]["operation"] = json!("Update");
        let mut theirs = ours.clone();
        theirs["managedFields"][0]["manager"] = json!("endpointslice-controller");
        let mut controlled = ours.clone();
        controlled["ownerReferences"] = json!([{"uid": "other", "controller": true}]);
        let owned = json!({"ownerReferences": [{"uid": "parent", "controller": true}]});
        let mut copied = ours.clone();
        copied["ownerReferences"] = owned["ownerReferences"].clone();
        for (what, namespace, more, expected) in [
            ("applied by us", "other", &ours, [true, false]),
            ("where it could be owned", "ns", &ours, [false, false]),
            ("owned", "ns", &owned, [true, true]),
            ("a copy of what is owned", "other", &copied, [false, false]),
            ("controlled by another", "other", &controlled, [false, false]),
            ("copied by a server", "other", &theirs, [false, false]),
            ("not applied", "other", &updated, [false, false]),
            ("of another parent", "other", &labelled("b", "op", &both), [false, false]),
            ("of another operator", "other", &labelled("parent", "b", &both), [false, false]),
            ("labels by others", "other", &labelled("parent", "op", &json!({})), [false, false]),
        ] {
            let child = object("Child", namespace, more);
            let decided =
                [ChildConfig::apply().delete_with_finalizer(), ChildConfig::apply()].map(|how| {
                    let config = OperatorConfig::new("op", parent.ty().clone())
                        .child_of_type(child.ty().clone(), how);
                    is_ours(&config, &operator, &parent, &child)
                });
            assert_eq!(decided, expected, "{what}");
        }
    }
}
