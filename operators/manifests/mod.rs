//! `deploy/kustomize` and `deploy/helm`: what runs the operators in a cluster, generated from their declarations.
//!
//! ```text
//! base/        CRDs, Deployment, Service, NetworkPolicy, PodDisruptionBudget
//! monitoring/  a component: ServiceMonitor and PrometheusRule, for clusters with the Prometheus operator
//! overlays/    with permissions: cluster-wide; one-namespace; two-replicas, with leader election
//! helm/        the same as a chart
//! ```
//!
//! Pure: a list of files. The command writes them.

use operetta::manifests::{ManifestError, to_yaml};
use serde_json::{Value, json};

use crate::{Operator, crds, rbac};

mod chart;
mod file;
mod monitoring;
mod setting;
mod workload;

pub use chart::chart;
pub use file::File;
use file::HEADER;
use setting::Setting;

/// The files of `deploy/kustomize`.
///
/// # Errors
/// The declarations of an operator make no manifest.
pub fn kustomize(operators: Vec<Operator>) -> Result<Vec<File>, ManifestError> {
    let mut files = vec![
        File { path: path("base/crds"), text: crds::yaml(&operators)? },
        File { path: path("overlays/cluster-wide/rbac"), text: rbac::yaml(&operators)? },
    ];
    let within = crate::within(operators, &[rbac::NAMESPACE.to_owned()]);
    let restricted = rbac::yaml(&within)?;
    files.push(File { path: path("overlays/one-namespace/rbac"), text: restricted });
    for (name, objects) in objects()? {
        files.push(File { path: path(name), text: to_yaml(HEADER, &objects)? });
    }
    Ok(files)
}

fn objects() -> Result<Vec<(&'static str, Vec<Value>)>, ManifestError> {
    let setting = Setting::kustomize();
    let mut running = workload::always(&setting).to_vec();
    running.push(workload::network_policy(&setting));
    let base =
        kustomization("Kustomization", json!({"resources": ["crds.yaml", "operators.yaml"]}));
    let monitoring = ["service-monitor.yaml", "prometheus-rule.yaml"];
    Ok(vec![
        ("base/operators", running),
        ("base/kustomization", vec![base]),
        ("monitoring/service-monitor", vec![monitoring::service_monitor(&setting)]),
        ("monitoring/prometheus-rule", vec![monitoring::prometheus_rule(&setting)?]),
        ("monitoring/kustomization", vec![component(&monitoring)]),
        ("overlays/cluster-wide/kustomization", vec![overlay(&["../../base", "rbac.yaml"], &[])]),
        ("overlays/one-namespace/kustomization", vec![one_namespace()]),
        ("overlays/two-replicas/kustomization", vec![two_replicas()]),
    ])
}

fn path(name: &str) -> String {
    format!("kustomize/{name}.yaml")
}

fn kustomization(kind: &str, fields: Value) -> Value {
    let version = if kind == "Component" { "v1alpha1" } else { "v1beta1" };
    let mut whole =
        json!({"apiVersion": format!("kustomize.config.k8s.io/{version}"), "kind": kind});
    if let (Some(whole), Value::Object(fields)) = (whole.as_object_mut(), fields) {
        whole.extend(fields);
    }
    whole
}

fn component(resources: &[&str]) -> Value {
    kustomization("Component", json!({"resources": resources}))
}

/// Changes the Deployment of other resources.
fn overlay(resources: &[&str], changes: &[Value]) -> Value {
    let mut fields = json!({"resources": resources});
    if !changes.is_empty() {
        let target = json!({"kind": "Deployment", "name": rbac::NAME});
        fields["patches"] = json!([{"target": target, "patch": json!(changes).to_string()}]);
    }
    kustomization("Kustomization", fields)
}

fn argument(argument: &str) -> Value {
    json!({"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": argument})
}

/// The operators whose parents have a namespace, in that of their process.
fn one_namespace() -> Value {
    let namespace = argument(&format!("--namespaces={}", rbac::NAMESPACE));
    overlay(&["../../base", "rbac.yaml"], &[namespace])
}

/// One process works, and the other continues when it goes.
fn two_replicas() -> Value {
    let strategy = json!({"type": "RollingUpdate"});
    let changes = [
        json!({"op": "replace", "path": "/spec/replicas", "value": 2}),
        json!({"op": "replace", "path": "/spec/strategy", "value": strategy}),
        argument("--leader-elect"),
    ];
    overlay(&["../cluster-wide"], &changes)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_committed_files_are_up_to_date() {
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
        let charted = chart(&crate::all()).unwrap();
        let files = kustomize(crate::all()).unwrap().into_iter().chain(charted);
        for File { path, text } in files {
            let committed = fs::read_to_string(deploy.join(&path)).unwrap_or_default();
            assert!(
                committed == text,
                "deploy/{path} is not what `cargo run -- manifests` or `cargo run -- manifests --helm` writes"
            );
        }
    }
}
