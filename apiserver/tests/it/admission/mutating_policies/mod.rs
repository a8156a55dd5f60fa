//! Mutating admission policies: the same policies and requests on both servers.

mod configurations;
mod evaluation;
mod patches;
mod refused;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::pair::{Stage, Step};

const JSON: &str = "application/json";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// A webhook that adds a label.
fn answer(_: &str, review: &Value) -> Option<(u16, &'static str, String)> {
    let patch = json!([{"op": "add", "path": "/data/hooked", "value": "yes"}]);
    let response = json!({
        "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch",
        "patch": STANDARD.encode(patch.to_string()),
    });
    let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Some((200, JSON, answer.to_string()))
}

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": name}},
        "data": {"key": "value", "number": "5"},
    })
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i", "args": ["x"]}]},
            },
        },
    })
}

fn create(stage: &Stage, name: &str) -> Step {
    Step("POST", stage.config_maps(), JSON, config_map(name))
}

fn patch(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

fn apply(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

/// A policy about the objects of the scene that have its name as a label.
fn policy(stage: &Stage, name: &str, mutations: &[Value], rest: Value) -> (String, Value) {
    let mut spec = json!({
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}},
            "objectSelector": {"matchLabels": {"app": name}},
            "resourceRules": [{
                "apiGroups": ["", "apps"], "apiVersions": ["v1"], "operations": ["*"],
                "resources": ["configmaps", "deployments"],
            }],
        },
        "reinvocationPolicy": "Never",
        "mutations": mutations,
    });
    if let (Some(spec), Value::Object(rest)) = (spec.as_object_mut(), rest) {
        spec.extend(rest);
    }
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": format!("{}-{name}", stage.namespace)}, "spec": spec,
    });
    (format!("{GROUP}/mutatingadmissionpolicies"), object)
}

fn binding(stage: &Stage, name: &str, rest: Value) -> (String, Value) {
    let name = format!("{}-{name}", stage.namespace);
    let mut spec = json!({"policyName": name});
    if let (Some(spec), Value::Object(rest)) = (spec.as_object_mut(), rest) {
        spec.extend(rest);
    }
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": spec,
    });
    (format!("{GROUP}/mutatingadmissionpolicybindings"), object)
}

/// The last one created, which shows that all have effect.
fn ready(stage: &Stage) -> Vec<(String, Value)> {
    let name = "zz-ready";
    let refusing = patch("[JSONPatch{op: 'remove', path: '/nothing'}]");
    let (path, mut policy) = policy(stage, name, &[refusing], json!({}));
    let (of_bindings, binding) = binding(stage, name, json!({}));
    policy["spec"]["matchConstraints"]["objectSelector"] =
        json!({"matchLabels": {"ready": binding["metadata"]["name"]}});
    vec![(path, policy), (of_bindings, binding)]
}

/// Policies of one mutation each, for the object of their name.
fn one_each(stage: &Stage, mutations: &[(&str, Value)]) -> Vec<(String, Value)> {
    let mut objects = Vec::new();
    for (name, mutation) in mutations {
        objects.push(policy(stage, name, std::slice::from_ref(mutation), json!({})));
        objects.push(binding(stage, name, json!({})));
    }
    objects.extend(ready(stage));
    objects
}
