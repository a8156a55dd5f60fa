//! A Role of the account beside those of the operators, in the namespace of its Pods.

use serde_json::{Value, json};

use super::setting::Setting;

const GROUP: &str = "rbac.authorization.k8s.io";

/// The Role with one rule, and its binding to the account; both have this metadata.
pub(super) fn bound(setting: &Setting, metadata: &Value, rule: &Value) -> [Value; 2] {
    let version = format!("{GROUP}/v1");
    let account = json!({
        "kind": "ServiceAccount", "name": setting.name, "namespace": setting.namespace,
    });
    [
        json!({
            "apiVersion": version, "kind": "Role", "metadata": metadata, "rules": [rule],
        }),
        json!({
            "apiVersion": version, "kind": "RoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": metadata["name"]},
            "subjects": [account],
        }),
    ]
}
