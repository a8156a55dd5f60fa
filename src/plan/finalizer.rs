//! Adds a finalizer to a parent and removes it, as JSON merge patches. A patch carries the version:
//! it replaces the whole list, and must not overwrite a newer one.

use serde_json::{Value, json};

use crate::object::Object;

/// The patch that adds a finalizer and removes those of a predecessor; `None` when nothing would
/// change, or when the parent is being deleted and the server would refuse a new one.
pub(crate) fn add(parent: &Object, name: &str, former: &[String]) -> Option<Value> {
    let before = parent.finalizers();
    let mut finalizers = without(&before, former);
    if !finalizers.iter().any(|finalizer| finalizer == name) {
        finalizers.push(name.to_owned());
    }
    (!parent.is_deleting() && finalizers != before).then(|| patch(parent, &finalizers))
}

/// The patch that removes a finalizer and those of a predecessor; `None` when there is none.
pub(crate) fn remove(parent: &Object, name: &str, former: &[String]) -> Option<Value> {
    let before = parent.finalizers();
    let mut finalizers = without(&before, former);
    finalizers.retain(|finalizer| finalizer != name);
    (finalizers != before).then(|| patch(parent, &finalizers))
}

fn without(finalizers: &[String], former: &[String]) -> Vec<String> {
    finalizers.iter().filter(|finalizer| !former.contains(finalizer)).cloned().collect()
}

fn patch(parent: &Object, finalizers: &[String]) -> Value {
    json!({"metadata": {
        "resourceVersion": parent.resource_version().to_string(),
        "finalizers": finalizers,
    }})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, KeptManagers};

    fn parent(metadata: &Value) -> Object {
        let mut value = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}});
        let fields = value["metadata"].as_object_mut().unwrap();
        fields.extend(metadata.as_object().unwrap().clone());
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
    }

    fn patched(finalizers: &[&str]) -> Value {
        json!({"metadata": {"resourceVersion": "7", "finalizers": finalizers}})
    }

    #[test]
    fn finalizers_of_others_stay_in_their_order() {
        let object = parent(&json!({"finalizers": ["b", "x", "a"]}));
        assert_eq!(add(&object, "y", &[]), Some(patched(&["b", "x", "a", "y"])));
        assert_eq!(remove(&object, "x", &[]), Some(patched(&["b", "a"])));
        assert_eq!(remove(&parent(&json!({"finalizers": ["x"]})), "x", &[]), Some(patched(&[])));
    }

    #[test]
    fn the_finalizers_of_a_predecessor_are_removed() {
        let former = ["x".to_owned()];
        let object = parent(&json!({"finalizers": ["b", "x"]}));
        assert_eq!(add(&object, "y", &former), Some(patched(&["b", "y"])));
        assert_eq!(remove(&object, "y", &former), Some(patched(&["b"])));
        let both = parent(&json!({"finalizers": ["y", "x"]}));
        assert_eq!(add(&both, "y", &former), Some(patched(&["y"])));
        assert_eq!(remove(&both, "y", &former), Some(patched(&[])));
    }

    #[test]
    fn there_is_no_patch_when_nothing_would_change() {
        let object = parent(&json!({"finalizers": ["x"]}));
        assert_eq!((add(&object, "x", &[]), remove(&object, "y", &[])), (None, None));
    }

    #[test]
    fn a_parent_that_is_being_deleted_gets_no_finalizer() {
        let object = parent(&json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
        assert_eq!(add(&object, "x", &[]), None);
    }
}
