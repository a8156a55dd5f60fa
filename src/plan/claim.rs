//! The claim of a parent on an existing object: labels and the owner reference, without a change of its content. For
//! children that are only ensured.

use serde_json::{Value, json};

use super::ownership::{labels_of_ours, path_of_label, set_label, set_owners};
use crate::{
    diff::applied,
    object::Object,
    operator::{Labels, OperatorName},
};

/// The paths at which an object lacks the claim that the body of the child has.
pub(super) fn unclaimed(body: &Value, live: &Object, labels: &Labels) -> Vec<String> {
    let desired = &body["metadata"];
    let is_lost = |name: &&str| live.label(name).as_deref() != desired["labels"][*name].as_str();
    let lost = labels_of_ours(labels).into_iter().filter(is_lost);
    let mut unclaimed: Vec<String> = lost.map(path_of_label).collect();
    let owners = live.field("metadata").unwrap_or_default()["ownerReferences"].take();
    if !is_owned_alike(&owners, desired, labels) {
        unclaimed.push(".metadata.ownerReferences".to_owned());
    }
    unclaimed
}

/// The body that adds the claim of the child's body to this version of an object. It changes nothing else:
/// applied fields keep their present values.
pub(super) fn claim(
    body: &Value,
    live: &Object,
    operator: &OperatorName,
    labels: &Labels,
) -> Value {
    let fields = live.applied_fields(operator.as_str());
    let mut claim = applied(&live.to_value(), fields.as_ref());
    for name in ["apiVersion", "kind"] {
        claim[name] = body[name].clone();
    }
    let (metadata, desired) = (&mut claim["metadata"], &body["metadata"]);
    for name in ["name", "namespace"].into_iter().filter(|name| desired[*name].is_string()) {
        metadata[name] = desired[name].clone();
    }
    for name in labels_of_ours(labels) {
        set_label(metadata, name, desired["labels"].get(name).cloned());
    }
    let mut owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    owners.retain(|owner| owner["uid"] != desired["labels"][&labels.parent_uid]);
    owners.extend(reference(desired, labels).cloned());
    set_owners(metadata, owners);
    metadata["uid"] = json!(live.uid());
    metadata["resourceVersion"] = json!(live.resource_version().to_string());
    claim
}

/// Whether the owner references of an object have that to the parent, or do not, as desired.
fn is_owned_alike(owners: &Value, desired: &Value, labels: &Labels) -> bool {
    let mut owners = owners.as_array().into_iter().flatten();
    match reference(desired, labels).and_then(Value::as_object) {
        Some(desired) => {
            owners.any(|owner| desired.iter().all(|(name, value)| owner[name] == *value))
        }
        None => !owners.any(|owner| owner["uid"] == desired["labels"][&labels.parent_uid]),
    }
}

/// The reference to the parent in the metadata of a child.
fn reference<'a>(metadata: &'a Value, labels: &Labels) -> Option<&'a Value> {
    let owners = metadata["ownerReferences"].as_array()?;
    owners.iter().find(|owner| owner["uid"] == metadata["labels"][&labels.parent_uid])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, KeptManagers};

    fn body(owner: &Value, labels: &Value) -> Value {
        let metadata = json!({
            "name": "a", "namespace": "ns", "labels": labels, "ownerReferences": owner,
        });
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"p": "new"}})
    }

    fn desired() -> Value {
        let owner = json!([{"uid": "p", "controller": true, "name": "parent"}]);
        let labels = json!({"operetta.dev/parent-uid": "p", "app.kubernetes.io/managed-by": "op"});
        body(&owner, &labels)
    }

    fn live(owners: &Value, labels: &Value) -> Object {
        let mut value = body(owners, labels);
        value["data"] = json!({"p": "old", "more": "theirs"});
        let metadata = value["metadata"].as_object_mut().unwrap();
        metadata.insert("uid".to_owned(), json!("u"));
        metadata.insert("resourceVersion".to_owned(), json!("7"));
        let fields = json!({
            "f:data": {"f:p": {}},
            "f:metadata": {"f:labels": {"f:operetta.dev/parent-uid": {}}},
        });
        let entry = json!([{"manager": "op", "operation": "Apply", "fieldsV1": fields}]);
        metadata.insert("managedFields".to_owned(), entry);
        let ty = K8sType::namespaced("v1", "Secret", "secrets");
        Object::from_value(&ty, &value, &KeptManagers::new(["op"])).unwrap()
    }

    #[test]
    fn a_claim_has_what_is_lost_and_keeps_what_was_applied_with_its_value() {
        let operator = OperatorName::new("op").unwrap();
        let theirs = json!([{"uid": "q"}]);
        let object = live(&theirs, &json!({"operetta.dev/parent-uid": "x", "more": "theirs"}));
        let mut expected = desired();
        expected["data"] = json!({"p": "old"});
        expected["metadata"]["uid"] = json!("u");
        expected["metadata"]["resourceVersion"] = json!("7");
        assert_eq!(claim(&desired(), &object, &operator, &Labels::default()), expected);
        assert_eq!(
            unclaimed(&desired(), &object, &Labels::default()),
            [
                ".metadata.labels[\"operetta.dev/parent-uid\"]",
                ".metadata.labels[\"app.kubernetes.io/managed-by\"]",
                ".metadata.ownerReferences",
            ]
        );
    }

    #[test]
    fn an_object_is_claimed_whatever_its_content_and_other_owners_are() {
        let mut owners = desired()["metadata"]["ownerReferences"].take();
        owners.as_array_mut().unwrap().insert(0, json!({"uid": "q"}));
        owners[1]["more"] = json!("of the server");
        let mut labels = desired()["metadata"]["labels"].take();
        labels["more"] = json!("theirs");
        let claimed = live(&owners, &labels);
        assert!(unclaimed(&desired(), &claimed, &Labels::default()).is_empty());
        // Where there is to be no owner reference, one of ours is too much.
        let kept = body(&json!([]), &desired()["metadata"]["labels"]);
        assert_eq!(unclaimed(&kept, &claimed, &Labels::default()), [".metadata.ownerReferences"]);
        assert!(
            unclaimed(&kept, &live(&json!([{"uid": "q"}]), &labels), &Labels::default()).is_empty()
        );
    }
}
