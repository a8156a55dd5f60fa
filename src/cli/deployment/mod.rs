//! `deploy/kustomize` and `deploy/helm`: what runs the operators in a cluster, generated from their declarations.
//!
//! ```text
//! base/          CRDs, Deployment, Service, NetworkPolicy, PodDisruptionBudget
//! tls/           a component: the certificate of a Secret instead of a self-signed one
//! cert-manager/  a component: tls, with a Secret that cert-manager writes
//! monitoring/    a component: ServiceMonitor and PrometheusRule, for clusters with the Prometheus operator; needs tls
//! overlays/      with permissions: cluster-wide; one-namespace; two-replicas, with leader election and the
//!                Service of the leader
//! helm/          the same as a chart
//! ```
//!
//! Pure: a list of files. The command writes them.

use serde_json::{Value, json};

use crate::{
    cli::{
        crds::{self, Types},
        deployed::Deployed,
        header::flag,
        only::restricted,
        rbac,
    },
    manifests::{ManifestError, to_yaml},
    operator::AnyOperator,
};

mod chart;
mod file;
mod helpers;
mod leader;
mod monitoring;
mod permissions;
mod pods;
mod setting;
mod tls;
mod values;
mod webhooks;
mod workload;

pub(super) use chart::chart;
pub(super) use file::File;
use file::header;
use setting::Setting;

/// The container of the Deployment.
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// The files of `deploy/kustomize`; `only` are the names by which the operators were chosen, none for all.
///
/// # Errors
/// The declarations of an operator make no manifest.
pub(crate) fn kustomize(
    deployed: &Deployed,
    operators: Vec<AnyOperator>,
    types: &Types,
    only: &[String],
) -> Result<Vec<File>, ManifestError> {
    let flags: Vec<_> = flag("only", only).into_iter().collect();
    let crds = types.crds(&operators, (&deployed.namespace, &deployed.name))?;
    let mut files = vec![
        File { path: path("base/crds"), text: crds::yaml(&crds, &flags)? },
        File {
            path: path("overlays/cluster-wide/rbac"),
            text: rbac::yaml(deployed, &types.permit(rbac::permissions(&operators)?), &flags)?,
        },
    ];
    let namespaced = operators.iter().all(|one| one.config().parent().is_namespaced());
    let within = restricted(operators, std::slice::from_ref(&deployed.namespace));
    // The program refuses an overlay with a chosen operator that cannot be restricted.
    let has_restricted = only.is_empty() || namespaced;
    if has_restricted {
        let permissions = types.within_namespaces().permit(rbac::permissions(&within)?);
        let text = rbac::yaml(deployed, &permissions, &flags)?;
        files.push(File { path: path("overlays/one-namespace/rbac"), text });
    }
    for (name, objects) in objects(deployed, types, only)? {
        if has_restricted || !name.starts_with("overlays/one-namespace/") {
            files.push(File { path: path(name), text: to_yaml(&header(only), &objects)? });
        }
    }
    Ok(files)
}

fn objects(
    deployed: &Deployed,
    types: &Types,
    only: &[String],
) -> Result<Vec<(&'static str, Vec<Value>)>, ManifestError> {
    let setting = webhooks::called(Setting::kustomize(deployed, only), types);
    let mut running = workload::always(&setting).to_vec();
    running.push(workload::network_policy(&setting));
    let configurations = webhooks::configured(&setting, types, &[]);
    running.extend(webhooks::service(&setting));
    running.extend(configurations.iter().cloned());
    let base =
        kustomization("Kustomization", json!({"resources": ["crds.yaml", "operators.yaml"]}));
    let monitoring = json!({"resources": ["service-monitor.yaml", "prometheus-rule.yaml"]});
    let issued = tls::issued(&setting.metadata(), &setting.hosts(), &setting.secret);
    let with_tls = json!({"components": ["../tls"], "resources": ["certificate.yaml"]});
    let [certificate, _] = tls::args();
    Ok(vec![
        ("base/operators", running),
        ("base/kustomization", vec![base]),
        ("monitoring/service-monitor", vec![monitoring::service_monitor(&setting)]),
        ("monitoring/prometheus-rule", vec![monitoring::prometheus_rule(&setting)?]),
        (
            "monitoring/kustomization",
            vec![component(deployed, monitoring, &[is_at(&setting, &certificate)])],
        ),
        ("tls/kustomization", vec![component(deployed, json!({}), &certified(&setting))]),
        ("cert-manager/certificate", issued.to_vec()),
        ("cert-manager/kustomization", vec![component(deployed, with_tls, &[])]),
        (
            "overlays/cluster-wide/kustomization",
            vec![overlay(deployed, &["../../base", "rbac.yaml"], &[])],
        ),
        ("overlays/one-namespace/kustomization", vec![one_namespace(deployed, &configurations)]),
        ("overlays/two-replicas/leader", leader::objects(&setting).to_vec()),
        ("overlays/two-replicas/kustomization", vec![two_replicas(deployed)]),
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

fn component(deployed: &Deployed, fields: Value, changes: &[Value]) -> Value {
    kustomization("Component", changing(deployed, fields, changes))
}

fn overlay(deployed: &Deployed, resources: &[&str], changes: &[Value]) -> Value {
    kustomization("Kustomization", changing(deployed, json!({"resources": resources}), changes))
}

/// Changes the Deployment of other resources.
fn changing(deployed: &Deployed, mut fields: Value, changes: &[Value]) -> Value {
    if !changes.is_empty() {
        let target = json!({"kind": "Deployment", "name": deployed.name});
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

/// The operators whose parents have a namespace, in that of their process. It answers no webhooks, as these are of the whole
/// cluster.
fn one_namespace(deployed: &Deployed, configurations: &[Value]) -> Value {
    let namespace = argument(&format!("--namespaces={}", deployed.namespace));
    let mut overlay = overlay(deployed, &["../../base", "rbac.yaml"], &[namespace]);
    let removed = configurations.iter().map(|configuration| {
        let mut patch = json!({"$patch": "delete"});
        for field in ["apiVersion", "kind"] {
            patch[field] = configuration[field].clone();
        }
        patch["metadata"]["name"] = configuration["metadata"]["name"].clone();
        json!({"patch": patch.to_string()})
    });
    if let Some(patches) = overlay["patches"].as_array_mut() {
        patches.extend(removed);
    }
    overlay
}

/// One process works, and the other continues when it goes.
fn two_replicas(deployed: &Deployed) -> Value {
    let strategy = json!({"type": "RollingUpdate"});
    let variables = format!("{CONTAINER}/env");
    let mut changes = vec![
        json!({"op": "replace", "path": "/spec/replicas", "value": 2}),
        json!({"op": "replace", "path": "/spec/strategy", "value": strategy}),
        json!({"op": "add", "path": variables, "value": leader::variables()}),
    ];
    changes.extend(leader::args().iter().map(|it| argument(it)));
    overlay(deployed, &["../cluster-wide", "leader.yaml"], &changes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        object::K8sType,
        operator::{
            OperatorConfig,
            admission::{Admission, AdmissionRequest, Webhook},
        },
        supervisor::{Supervisor, tests::sync},
    };

    fn files() -> BTreeMap<String, String> {
        of_types(&Types::default())
    }

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    fn open(_: &AdmissionRequest) -> anyhow::Result<Admission> {
        Ok(Admission::allow())
    }

    fn with_webhooks() -> BTreeMap<String, String> {
        let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
        let supervisor = Supervisor::builder()
            .program("web-program", "1.2.3")
            .webhook(Webhook::validate_type("open", website, open))
            .webhooks("0.0.0.0:9443");
        of_types(&Types::of(&supervisor))
    }

    /// The files of a program, by path.
    fn of_types(types: &Types) -> BTreeMap<String, String> {
        let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
        let operators = vec![AnyOperator::new(OperatorConfig::new("website", website), sync)];
        let deployed = Deployed::new("website", "1.2.3").namespace("web").image("pages");
        let charted = chart(&deployed, &operators, types, &[]).unwrap();
        let files = kustomize(&deployed, operators, types, &[]).unwrap().into_iter().chain(charted);
        files.map(|File { path, text }| (path, text)).collect()
    }

    #[test]
    fn a_program_is_deployed_under_its_own_names() {
        let files = files();
        let text = |wanted: &str| &files[wanted];
        assert!(text("helm/website/Chart.yaml").contains("name: website\n"));
        assert!(text("kustomize/base/operators.yaml").contains("image: pages:1.2.3\n"));
        let restricted = text("kustomize/overlays/one-namespace/kustomization.yaml");
        assert!(restricted.contains("--namespaces=web"), "{restricted}");
        for (path, text) in files {
            assert!(
                !text.contains("operetta-operators") && !text.contains("operetta-system"),
                "{path}"
            );
        }
    }

    #[test]
    fn a_program_with_webhooks_is_called_by_a_service_of_their_own() {
        let files = with_webhooks();
        let base = &files["kustomize/base/operators.yaml"];
        for part in [
            "kind: ValidatingWebhookConfiguration\n",
            "name: website-webhooks\n",
            "containerPort: 9443\n",
            "- --webhook-service=website-webhooks\n",
            "targetPort: webhooks\n",
            "  - ports:\n    - port: 9443\n",
            "path: /webhooks/open.websites.example.dev\n",
            "failurePolicy: Fail\n",
        ] {
            assert!(base.contains(part), "{part}: {base}");
        }
        let rbac = &files["kustomize/overlays/cluster-wide/rbac.yaml"];
        for part in ["- web-program-webhook-certificates\n", "resourceNames:\n  - web-program\n"] {
            assert!(rbac.contains(part), "{part}: {rbac}");
        }
        let chart = files["helm/website/templates/webhooks.yaml"].clone()
            + &files["helm/website/templates/webhook-configurations.yaml"];
        let policy = "failurePolicy: {{ .Values.webhooks.failurePolicy | default `Fail` }}\n";
        for part in [policy, "name: {{ .Release.Name }}-webhooks\n", "name: web-program\n"] {
            assert!(chart.contains(part), "{part}: {chart}");
        }
        let helpers = &files["helm/website/templates/_helpers.tpl"];
        assert!(
            helpers.contains("- --webhook-service={{ .Release.Name }}-webhooks\n"),
            "{helpers}"
        );
        let roles = &files["helm/website/templates/rbac.yaml"];
        assert!(roles.contains("web-program-webhook-certificates"), "{roles}");
        assert!(files["helm/website/values.yaml"].contains("webhooks:\n"));
    }

    #[test]
    fn the_leader_labels_its_pod_where_two_processes_run_and_one_alone_does_not() {
        let files = files();
        let (overlays, argument) = ("kustomize/overlays", "--leader-elect-pod=$(POD_NAME)");
        let two = &files[&format!("{overlays}/two-replicas/kustomization.yaml")];
        for part in [argument, "metadata.name", "- leader.yaml"] {
            assert!(two.contains(part), "{part}: {two}");
        }
        let objects = &files[&format!("{overlays}/two-replicas/leader.yaml")];
        for part in ["kind: Service\n", "kind: Role\n", "name: website-leader\n", "- patch\n"] {
            assert!(objects.contains(part), "{part}: {objects}");
        }
        let with_leader: Vec<_> =
            files.iter().filter(|(_, text)| text.contains(argument)).collect();
        assert_eq!(with_leader.len(), 2, "{with_leader:?}");
    }

    #[test]
    fn the_chart_has_the_service_of_the_leader_with_more_than_one_replica() {
        let files = files();
        let template = |name: &str| &files[&format!("helm/website/templates/{name}")];
        let objects = template("leader.yaml");
        assert!(objects.contains("{{- if gt (int .Values.replicas) 1 }}\n"), "{objects}");
        assert!(objects.contains("name: {{ .Release.Name }}-leader\n"), "{objects}");
        let helpers = template("_helpers.tpl");
        let (_, elected) = helpers.split_once("{{- if gt (int .Values.replicas) 1 }}\n").unwrap();
        let expected = "- --leader-elect\n- --leader-elect-pod=$(POD_NAME)\n";
        assert!(elected.starts_with(expected), "{helpers}");
        let variable =
            "- name: POD_NAME\n  valueFrom:\n    fieldRef:\n      fieldPath: metadata.name\n";
        assert!(helpers.contains(variable), "{helpers}");
    }
}
