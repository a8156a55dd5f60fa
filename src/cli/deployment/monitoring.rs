//! The objects of the Prometheus operator: what is scraped, and the alerts.

use crate::manifests::ManifestError;
use serde_json::{Value, json};

use super::setting::{RUNBOOKS, Setting};

const RULES: &str = include_str!("../../../deploy/prometheus/rules.yaml");

/// The account of Prometheus needs the role `operetta-metrics-reader`. Its token has an audience: it is
/// a file in the Pods of Prometheus, and no Secret. Only a scrape class can name a file without a deprecated field. The
/// configuration of Prometheus chooses the file.
pub(super) fn service_monitor(setting: &Setting) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": setting.metadata(),
        "spec": setting.scrape,
    })
}

/// The account of Prometheus, which the values of the chart name, may read the metrics.
pub(super) fn binding(setting: &Setting) -> Value {
    let name = format!("{}-metrics-reader", setting.name);
    let mut metadata = setting.metadata();
    metadata["name"] = json!(name);
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.remove("namespace");
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{
            "kind": "ServiceAccount",
            "name": "<<.Values.monitoring.prometheus.account>>",
            "namespace": "<<.Values.monitoring.prometheus.namespace>>",
        }],
    })
}

/// The alerts of `deploy/prometheus/rules.yaml`.
pub(super) fn prometheus_rule(setting: &Setting) -> Result<Value, ManifestError> {
    let rules = RULES.replace(RUNBOOKS, &setting.runbooks);
    let spec: Value =
        serde_yaml_ng::from_str(&rules).map_err(|error| ManifestError::Yaml(error.into()))?;
    Ok(json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": setting.metadata(),
        "spec": spec,
    }))
}
