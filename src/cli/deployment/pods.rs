//! The values of the chart that Pods of every chart have: where they run, and what they have beside our own.

use serde_json::{Value, json};

/// Their schemas.
pub(super) fn values() -> Value {
    json!({
        "imagePullSecrets": list("Secrets with which the image is pulled, such as {name: registry}."),
        "podAnnotations": texts("Further annotations of the Pods."),
        "podLabels": texts("Further labels of the Pods."),
        "nodeSelector": texts("The labels of the nodes on which the Pods may run."),
        "tolerations": list("The taints of nodes that the Pods tolerate."),
        "affinity": {
            "type": "object", "default": {},
            "description": "Further rules for the nodes on which the Pods run.",
        },
        "topologySpreadConstraints":
            list("How the Pods are spread. Empty: over nodes, where that is possible."),
        "priorityClassName": {
            "type": "string", "default": "",
            "description": "The priority class of the Pods. Empty: the default one of the cluster.",
        },
        "env": list("Further variables of the container, such as {name: HTTPS_PROXY, value: ..}."),
        "envFrom": list("ConfigMaps and Secrets whose keys are variables of the container."),
        "volumes": list("Further volumes of the Pods."),
        "volumeMounts": list("Where the container has them."),
        "service": annotated("Annotations of the Service, and of that of the leader."),
        "serviceAccount": annotated("Annotations of the account, such as the role of a cloud provider."),
    })
}

fn list(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "object"}, "default": [], "description": about})
}

fn texts(about: &str) -> Value {
    json!({
        "type": "object", "additionalProperties": {"type": "string"}, "default": {},
        "description": about,
    })
}

fn annotated(about: &str) -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["annotations"],
        "properties": {"annotations": texts(about)},
    })
}
