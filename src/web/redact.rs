//! What must not be read by everybody who reaches the port is taken out of an object.
//!
//! Only what Kubernetes itself calls secret is known here: Secrets, and the annotation in which
//! `kubectl apply` keeps a copy of the whole object.

use serde_json::Value;

use crate::object::{K8sType, Object};

const REDACTED: &str = "(redacted)";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The object as it may be shown.
pub(super) fn redacted(object: &Object) -> Value {
    redacted_tree(object.ty(), object.to_value())
}

/// The same of one that is desired, or only a tree.
pub(super) fn redacted_tree(ty: &K8sType, mut value: Value) -> Value {
    let annotations = value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotation) = annotations.and_then(|map| map.get_mut(LAST_APPLIED)) {
        *annotation = REDACTED.into();
    }
    if ty.is("v1", "Secret") {
        for field in ["data", "stringData"] {
            if let Some(secret) = value.get_mut(field) {
                hide_values(secret);
            }
        }
    }
    value
}

/// Keys stay: which entries a Secret has is what one looks for when a pod cannot start.
fn hide_values(secret: &mut Value) {
    match secret.as_object_mut() {
        Some(entries) => entries.values_mut().for_each(|value| *value = REDACTED.into()),
        None => *secret = REDACTED.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    const SENTINEL: &str = "c2VudGluZWw=";

    fn shown(ty: &K8sType, value: &Value) -> Value {
        redacted(&Object::from_value(ty, value, &KeptManagers::default()).unwrap())
    }

    fn metadata() -> Value {
        let last_applied = format!("{{\"data\":{{\"password\":\"{SENTINEL}\"}}}}");
        json!({
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1",
            "annotations": {LAST_APPLIED: last_applied, "other": "stays"},
        })
    }

    #[test]
    fn a_secret_shows_its_keys_and_no_value() {
        let secret = K8sType::namespaced("v1", "Secret", "secrets");
        for data in [json!({"password": SENTINEL}), json!({"x": {"y": SENTINEL}}), json!(SENTINEL)]
        {
            let object = json!({"metadata": metadata(), "data": data, "stringData": data});
            let shown = shown(&secret, &object);
            assert!(!shown.to_string().contains(SENTINEL), "{shown}");
        }
        let object = json!({"metadata": metadata(), "data": {"password": SENTINEL}});
        assert_eq!(shown(&secret, &object)["data"], json!({"password": REDACTED}));
    }

    #[test]
    fn the_copy_that_kubectl_keeps_is_hidden_in_every_object() {
        let config_map = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let object = json!({"metadata": metadata(), "data": {"key": "value"}});
        let shown = shown(&config_map, &object);
        assert_eq!(shown["metadata"]["annotations"][LAST_APPLIED], REDACTED);
        assert_eq!(shown["metadata"]["annotations"]["other"], "stays");
        assert_eq!(shown["data"], json!({"key": "value"}));
    }
}
