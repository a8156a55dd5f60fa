//! Which Pods and claims belong to an object, by what its spec names. Pure.

use serde_json::Value;

use super::Object;

/// Kinds that select Pods by `spec.selector`.
const SELECTING: [(&str, &str); 5] = [
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
];

/// The label selector of the Pods of an object, as the API server reads it; `None` of an object that has none.
pub(crate) fn pod_selector(object: &Object) -> Option<String> {
    let ty = object.ty();
    if !SELECTING.contains(&(ty.group(), ty.kind())) {
        return None;
    }
    let spec = object.part_of("spec", &["selector"]);
    let labels = spec["selector"]["matchLabels"].as_object();
    let labels = labels.into_iter().flatten();
    let equal = labels.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    let expressions = spec["selector"]["matchExpressions"].as_array();
    let expressions = expressions.into_iter().flatten().filter_map(expression);
    let all: Vec<String> = equal.chain(expressions).collect();
    (!all.is_empty()).then(|| all.join(","))
}

fn expression(one: &Value) -> Option<String> {
    let (key, operator) = (one["key"].as_str()?, one["operator"].as_str()?);
    let values = one["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let values = values.collect::<Vec<_>>().join(",");
    match operator {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

/// The names of the claims of a Pod.
pub(crate) fn claims_of(pod: &Value) -> Vec<String> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    let claims = volumes.filter_map(|it| it["persistentVolumeClaim"]["claimName"].as_str());
    claims.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn pods_are_selected_as_their_controller_selects_them() {
        let deployment = K8sType::namespaced("apps/v1", "Deployment", "deployments");
        let service = K8sType::namespaced("v1", "Service", "services");
        let expressions = json!([
            {"key": "tier", "operator": "In", "values": ["a", "b"]},
            {"key": "old", "operator": "DoesNotExist"},
        ]);
        for (ty, selector, expected) in [
            (
                &deployment,
                json!({"matchLabels": {"app": "web"}, "matchExpressions": expressions}),
                Some("app=web,tier in (a,b),!old"),
            ),
            (&deployment, json!({}), None),
            (&service, json!({"app": "web"}), None),
        ] {
            let value = json!({
                "metadata": {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1"},
                "spec": {"selector": selector},
            });
            let object = Object::from_value(ty, &value, &KeptManagers::default()).unwrap();
            assert_eq!(pod_selector(&object).as_deref(), expected, "{value}");
        }
    }
}
