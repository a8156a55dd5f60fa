//! The objects of a website.

use kube::ResourceExt;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Website;

pub(crate) fn page(website: &Website, html: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": website.name_any()},
        "data": {"index.html": html},
    })
}

/// With it editors see drafts.
pub(crate) fn token(website: &Website) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": website.name_any()},
        "stringData": {"token": Uuid::new_v4().to_string()},
    })
}

pub(crate) fn deployment(website: &Website) -> Value {
    let name = website.name_any();
    let token = json!({"secretKeyRef": {"name": name, "key": "token"}});
    let container = json!({
        "name": "nginx",
        "image": "nginx:1.29",
        "env": [{"name": "DRAFT_TOKEN", "valueFrom": token}],
        "volumeMounts": [{"name": "page", "mountPath": "/usr/share/nginx/html"}],
    });
    let volume = json!({"name": "page", "configMap": {"name": name}});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": website.spec.replicas,
            "selector": {"matchLabels": {"website": name}},
            "template": {
                "metadata": {"labels": {"website": name}},
                "spec": {"containers": [container], "volumes": [volume]},
            },
        },
    })
}

pub(crate) fn service(website: &Website) -> Value {
    let name = website.name_any();
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"website": name}, "ports": [{"port": 80}]},
    })
}
