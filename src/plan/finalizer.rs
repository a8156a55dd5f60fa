//! Putting a finalizer on a parent and taking it off, as JSON merge patches. The patch carries the
//! version: a merge patch replaces the whole list, and so must not meet a newer one.

use serde_json::{Value, json};

use crate::object::Object;

/// The patch that adds a finalizer; `None` when it is there, or when the parent is being deleted
/// and the server would refuse a new one.
pub fn add(parent: &Object, name: &str) -> Option<Value> {
    let mut finalizers = parent.finalizers();
    if parent.is_deleting() || finalizers.iter().any(|finalizer| finalizer == name) {
        return None;
    }
    finalizers.push(name.to_owned());
    Some(patch(parent, &finalizers))
}

/// The patch that removes a finalizer; `None` when it is not there.
pub fn remove(parent: &Object, name: &str) -> Option<Value> {
    let mut finalizers = parent.finalizers();
    let before = finalizers.len();
    finalizers.retain(|finalizer| finalizer != name);
    (finalizers.len() < before).then(|| patch(parent, &finalizers))
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
        assert_eq!(add(&object, "y"), Some(patched(&["b", "x", "a", "y"])));
        assert_eq!(remove(&object, "x"), Some(patched(&["b", "a"])));
        assert_eq!(remove(&parent(&json!({"finalizers": ["x"]})), "x"), Some(patched(&[])));
    }

    #[test]
    fn there_is_no_patch_when_nothing_would_change() {
        let object = parent(&json!({"finalizers": ["x"]}));
        assert_eq!((add(&object, "x"), remove(&object, "y")), (None, None));
    }

    #[test]
    fn a_parent_that_is_being_deleted_gets_no_finalizer() {
        let object = parent(&json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
        assert_eq!(add(&object, "x"), None);
    }
}
