//! `deploy/kustomize` and `deploy/helm`: what runs the operators in a cluster, generated from their declarations.
//!
//! ```text
//! base/          CRDs, Deployment, Service, NetworkPolicy, PodDisruptionBudget
//! tls/           a component: the certificate of a Secret instead of a self-signed one
//! cert-manager/  a component: tls, with a Secret that cert-manager writes
//! monitoring/    a component: ServiceMonitor and PrometheusRule, for clusters with the Prometheus operator; needs tls
//! overlays/      with permissions: cluster-wide; one-namespace; two-replicas, with leader election
//! helm/          the same as a chart
//! ```
//!
//! Pure: a list of files. The command writes them.

use operetta::manifests::{ManifestError, to_yaml};
use serde_json::{Value, json};

use crate::{Operator, crds, manifest::flag, rbac};

mod chart;
mod file;
mod helpers;
mod monitoring;
mod setting;
mod tls;
mod values;
mod workload;

pub use chart::chart;
pub use file::File;
use file::header;
use setting::Setting;

/// The container of the Deployment.
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// The files of `deploy/kustomize`; `only` are the names by which the operators were chosen, none for all.
///
/// # Errors
/// The declarations of an operator make no manifest.
pub fn kustomize(operators: Vec<Operator>, only: &[String]) -> Result<Vec<File>, ManifestError> {
    let flags: Vec<_> = flag("only", only).into_iter().collect();
    let mut files = vec![
        File { path: path("base/crds"), text: crds::yaml(&operators, &flags)? },
        File { path: path("overlays/cluster-wide/rbac"), text: rbac::yaml(&operators, &flags)? },
    ];
    let namespaced = operators.iter().all(|one| one.operator.config().parent().is_namespaced());
    let within = crate::within(operators, &[rbac::NAMESPACE.to_owned()]);
    // The program refuses an overlay with a chosen operator that cannot be restricted.
    let has_restricted = only.is_empty() || namespaced;
    if has_restricted {
        let text = rbac::yaml(&within, &flags)?;
        files.push(File { path: path("overlays/one-namespace/rbac"), text });
    }
    for (name, objects) in objects(only)? {
        if has_restricted || !name.starts_with("overlays/one-namespace/") {
            files.push(File { path: path(name), text: to_yaml(&header(only), &objects)? });
        }
    }
    Ok(files)
}

fn objects(only: &[String]) -> Result<Vec<(&'static str, Vec<Value>)>, ManifestError> {
    let setting = Setting::kustomize(only);
    let mut running = workload::always(&setting).to_vec();
    running.push(workload::network_policy(&setting));
    let base =
        kustomization("Kustomization", json!({"resources": ["crds.yaml", "operators.yaml"]}));
    let monitoring = json!({"resources": ["service-monitor.yaml", "prometheus-rule.yaml"]});
    let issued = tls::issued(&setting.metadata(), &setting.host(), &setting.secret);
    let with_tls = json!({"components": ["../tls"], "resources": ["certificate.yaml"]});
    let [certificate, _] = tls::args();
    Ok(vec![
        ("base/operators", running),
        ("base/kustomization", vec![base]),
        ("monitoring/service-monitor", vec![monitoring::service_monitor(&setting)]),
        ("monitoring/prometheus-rule", vec![monitoring::prometheus_rule(&setting)?]),
        ("monitoring/kustomization", vec![component(monitoring, &[is_at(&setting, &certificate)])]),
        ("tls/kustomization", vec![component(json!({}), &certified(&setting))]),
        ("cert-manager/certificate", issued.to_vec()),
        ("cert-manager/kustomization", vec![component(with_tls, &[])]),
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

fn component(fields: Value, changes: &[Value]) -> Value {
    kustomization("Component", changing(fields, changes))
}

fn overlay(resources: &[&str], changes: &[Value]) -> Value {
    kustomization("Kustomization", changing(json!({"resources": resources}), changes))
}

/// Changes the Deployment of other resources.
fn changing(mut fields: Value, changes: &[Value]) -> Value {
    if !changes.is_empty() {
        let target = json!({"kind": "Deployment", "name": rbac::NAME});
        fields["patches"] = json!([{"target": target, "patch": json!(changes).to_string()}]);
    }
    fields
}

fn argument(argument: &str) -> Value {
    json!({"op": "add", "path": format!("{CONTAINER}/args/-"), "value": argument})
}

/// Serves the certificate of the Secret.
fn certified(setting: &Setting) -> [Value; 5] {
    let [certificate, key] = tls::args();
    let at = self_signed(setting);
    let added = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    [
        is_at(setting, tls::SELF_SIGNED),
        json!({"op": "replace", "path": format!("{CONTAINER}/args/{at}"), "value": certificate}),
        added(&format!("{CONTAINER}/args/{}", at + 1), json!(key)),
        added(&format!("{CONTAINER}/volumeMounts/-"), tls::mount()),
        added("/spec/template/spec/volumes/-", tls::volume(&setting.secret)),
    ]
}

/// Fails unless the argument is where that of the self-signed certificate was.
fn is_at(setting: &Setting, argument: &str) -> Value {
    let path = format!("{CONTAINER}/args/{}", self_signed(setting));
    json!({"op": "test", "path": path, "value": argument})
}

fn self_signed(setting: &Setting) -> usize {
    let mut args = setting.args.as_array().into_iter().flatten();
    args.position(|arg| arg == tls::SELF_SIGNED).unwrap_or_default()
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
        let charted = chart(&crate::all(), &[]).unwrap();
        let files = kustomize(crate::all(), &[]).unwrap().into_iter().chain(charted);
        for File { path, text } in files {
            let committed = fs::read_to_string(deploy.join(&path)).unwrap_or_default();
            assert!(
                committed == text,
                "deploy/{path} is not what `cargo run -- manifests` or `cargo run -- manifests --helm` writes"
            );
        }
    }

    /// A process that runs others would lack their permissions.
    #[test]
    fn operators_that_are_not_chosen_are_in_no_file() {
        let chosen = |name: &str| {
            let only = vec![name.to_owned()];
            let operators =
                crate::all().into_iter().filter(|it| it.operator.config().name() == name);
            let operators: Vec<_> = operators.collect();
            let charted = chart(&operators, &only).unwrap();
            let files = kustomize(operators, &only).unwrap().into_iter().chain(charted);
            files.map(|file| (file.path, file.text)).collect::<std::collections::BTreeMap<_, _>>()
        };
        let files = chosen("echo-server");
        for (path, text) in &files {
            assert!(!text.contains("databases"), "{path}: {text}");
        }
        for file in ["kustomize/base/operators.yaml", "helm/operetta/templates/_helpers.tpl"] {
            assert!(files[file].contains("- --only=echo-server"), "{file}: {}", files[file]);
        }
        let header = "cargo run -- manifests --only=echo-server";
        assert!(files["kustomize/base/operators.yaml"].contains(header));
        let restricted = "kustomize/overlays/one-namespace/rbac.yaml";
        assert!(files.contains_key(restricted));
        assert!(
            !chosen("temp-namespace").contains_key(restricted),
            "its parents have no namespace"
        );
    }
}
