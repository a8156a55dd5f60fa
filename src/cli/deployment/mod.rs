//! `deploy/kustomize` and `deploy/helm`: what runs the operators in a cluster, generated from their declarations.
//!
//! ```text
//! base/          CRDs, Deployment, Service, NetworkPolicy, PodDisruptionBudget
//! tls/           a component: the certificate of a Secret instead of a self-signed one
//! cert-manager/  a component: tls, with a Secret that cert-manager writes
//! monitoring/    a component: ServiceMonitor and PrometheusRule, for clusters with the Prometheus operator; needs tls
//! overlays/      with permissions: cluster-wide; one-namespace; two-replicas, with leader election and the
//!                Service of the leader; sharded, with three processes that share the parents out
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
mod overlays;
mod permissions;
mod pods;
mod role;
mod setting;
mod shards;
mod tls;
mod values;
mod webhooks;
mod workload;

pub(super) use chart::chart;
pub(super) use file::File;
use file::header;
use overlays::{
    certified, component, is_at, kustomization, one_namespace, overlay, sharded, two_replicas,
};
use setting::Setting;

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
        ("overlays/sharded/shards", shards::objects(&setting).to_vec()),
        ("overlays/sharded/kustomization", vec![sharded(deployed)]),
    ])
}

fn path(name: &str) -> String {
    format!("kustomize/{name}.yaml")
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
        let condition = "{{- if and (gt (int .Values.replicas) 1) (not .Values.sharded) }}\n";
        assert!(objects.contains(condition), "{objects}");
        assert!(objects.contains("name: {{ .Release.Name }}-leader\n"), "{objects}");
        let helpers = template("_helpers.tpl");
        let condition = "{{- else if gt (int .Values.replicas) 1 }}\n";
        let (_, elected) = helpers.split_once(condition).unwrap();
        let expected = "- --leader-elect\n- --leader-elect-pod=$(POD_NAME)\n";
        assert!(elected.starts_with(expected), "{helpers}");
        let variable =
            "- name: POD_NAME\n  valueFrom:\n    fieldRef:\n      fieldPath: metadata.name\n";
        assert!(helpers.contains(variable), "{helpers}");
    }

    #[test]
    fn three_processes_share_the_parents_out_and_none_leads() {
        let files = files();
        let overlay = |name: &str| &files[&format!("kustomize/overlays/sharded/{name}.yaml")];
        let kustomization = overlay("kustomization");
        for part in [
            r#"/spec/replicas","value":3"#,
            r#""maxSurge":1"#,
            r#""value":"--sharded"}"#,
            "status.podIP",
            "- shards.yaml",
        ] {
            assert!(kustomization.contains(part), "{part}: {kustomization}");
        }
        let objects = overlay("shards");
        for part in
            ["kind: NetworkPolicy\n", "kind: Role\n", "name: website-shards\n", "- delete\n"]
        {
            assert!(objects.contains(part), "{part}: {objects}");
        }
        let both = kustomization.clone() + objects;
        assert!(!both.contains("leader"), "{both}");
    }

    #[test]
    fn pods_of_the_chart_are_sharded_by_a_value_alone_whatever_the_replicas() {
        let files = files();
        let template = |name: &str| &files[&format!("helm/website/templates/{name}")];
        let helpers = template("_helpers.tpl");
        for part in [
            "{{- if .Values.sharded }}\n- --sharded\n{{- else",
            "{{- if .Values.sharded -}}\n- name: POD_IP\n",
            "{{- if .Values.sharded -}}\nrollingUpdate:\n  maxSurge: 1\n  maxUnavailable: 0\n",
        ] {
            assert!(helpers.contains(part), "{part}: {helpers}");
        }
        let role = template("shards.yaml");
        assert!(role.contains("{{- if .Values.sharded }}\n"), "{role}");
        assert!(role.contains("- delete\n"), "{role}");
        assert!(!template("rbac.yaml").contains("name: {{ .Release.Name }}-shards"));
        let policy = template("shards-network-policy.yaml");
        let condition = "{{- if and .Values.sharded .Values.networkPolicy.enabled }}\n";
        assert!(policy.contains(condition), "{policy}");
        assert!(files["helm/website/values.yaml"].contains("\nsharded: false\n"));
    }
}
