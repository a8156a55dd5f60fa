//! The Deployment of the operators, and the objects beside it.
//!
//! The Pods keep the Pod Security Standard `restricted`. The endpoint is served with TLS. The API server
//! decides who may use it; probes need no token.

use serde_json::{Value, json};

use super::{
    setting::{PORT, Setting, merged, port},
    webhooks,
};

/// What every cluster gets.
pub(super) fn always(setting: &Setting) -> [Value; 3] {
    [deployment(setting), service(setting), disruption_budget(setting)]
}

fn deployment(setting: &Setting) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": setting.metadata(),
        "spec": {
            "replicas": setting.replicas,
            "strategy": setting.strategy,
            "selector": {"matchLabels": setting.selector},
            "template": {"metadata": setting.of_pods, "spec": pod(setting)},
        },
    })
}

fn pod(setting: &Setting) -> Value {
    let pod = json!({
        "serviceAccountName": setting.name,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": setting.spread,
        "containers": [container(setting)],
        "volumes": setting.volumes,
    });
    merged(&pod, &setting.in_pods)
}

fn container(setting: &Setting) -> Value {
    let container = json!({
        "name": "operators",
        "image": setting.image,
        "imagePullPolicy": setting.pull_policy,
        "args": setting.args,
        "ports": webhooks::container_ports(setting, json!({"name": "https", "containerPort": PORT})),
        "startupProbe": probe("/livez", 2, 30),
        "livenessProbe": probe("/livez", 10, 3),
        "readinessProbe": probe("/readyz", 5, 3),
        "resources": setting.resources,
        "volumeMounts": setting.mounts,
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
    });
    merged(&container, &setting.in_container)
}

fn probe(path: &str, seconds: u32, failures: u32) -> Value {
    let get = json!({"path": path, "port": "https", "scheme": "HTTPS"});
    json!({"httpGet": get, "periodSeconds": seconds, "failureThreshold": failures})
}

fn service(setting: &Setting) -> Value {
    service_of(setting, setting.metadata(), &setting.selector)
}

/// A Service of the endpoint, for the Pods with these labels.
pub(super) fn service_of(setting: &Setting, mut metadata: Value, selector: &Value) -> Value {
    if !setting.service_annotations.is_null() {
        metadata["annotations"] = setting.service_annotations.clone();
    }
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "selector": selector,
            "ports": [{"name": "https", "port": 443, "targetPort": "https"}],
        },
    })
}

/// Named Pods may reach the endpoint, which then asks for a token. What the node of a Pod sends to it, such as probes,
/// no policy restricts. The Pods reach DNS and the API server, whose address no policy can name.
pub(super) fn network_policy(setting: &Setting) -> Value {
    let from_peers = json!({"from": setting.peers, "ports": [port("TCP", PORT)]});
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": setting.metadata(),
        "spec": {
            "podSelector": {"matchLabels": setting.selector},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": webhooks::ingress(setting, from_peers),
            "egress": setting.egress,
        },
    })
}

/// With one replica it never holds the drain of a node.
fn disruption_budget(setting: &Setting) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": setting.metadata(),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": setting.selector}},
    })
}
