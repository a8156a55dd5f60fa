//! `deploy/helm`: the same manifests as a Helm chart, with a schema of its values.
//!
//! CRDs are templates and not in `crds/`, which Helm installs once and never upgrades. They stay when the release is deleted:
//! the deletion of a CRD deletes all objects of its type, and their children.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use super::{
    file::{File, header},
    helpers::{braces, helpers},
    leader, monitoring, permissions,
    setting::Setting,
    shards, tls, values, webhooks, workload,
};
use crate::{
    cli::{crds::Types, deployed::Deployed},
    manifests::{ManifestError, to_yaml},
    operator::AnyOperator,
};

/// The files of the chart; `only` are the names by which the operators were chosen, none for all.
///
/// # Errors
/// The declarations of an operator make no manifest.
pub(crate) fn chart(
    deployed: &Deployed,
    operators: &[AnyOperator],
    types: &Types,
    only: &[String],
) -> Result<Vec<File>, ManifestError> {
    let setting = webhooks::called(Setting::chart(), types);
    let crds = types.crds(operators, (&setting.namespace, &setting.name))?;
    let monitored = [monitoring::service_monitor(&setting), monitoring::prometheus_rule(&setting)?];
    let issued = tls::issued(&setting.metadata(), &setting.hosts(), &setting.secret);
    let schema = values::schema(deployed, operators, setting.webhook_port.is_some());
    let described =
        serde_json::to_string_pretty(&schema).map_err(|it| ManifestError::Yaml(it.into()))?;
    let service = webhooks::service(&setting);
    let configured = webhooks::configured(&setting, types, operators);
    let mut files = vec![
        file("Chart.yaml", to_yaml(&header(only), &[about(deployed)])?),
        file("values.yaml", comment(only) + "---\n" + &values::defaults(&schema)?),
        file("values.schema.json", described + "\n"),
        file("templates/_helpers.tpl", helpers(&setting, only)?),
        template(only, "crds", &kept_crds(crds)?, Some(".Values.crds.install"))?,
        file(
            "templates/rbac.yaml",
            comment(only) + &permissions::template(&setting, operators, types)?,
        ),
        template(only, "operators", &workload::always(&setting), None)?,
        template(
            only,
            "leader",
            &leader::objects(&setting),
            Some("and (gt (int .Values.replicas) 1) (not .Values.sharded)"),
        )?,
        template(only, "shards", &shards::permission(&setting), Some(".Values.sharded"))?,
        template(only, "secret", &[generated(&setting)], Some("eq .Values.tls.mode `generated`"))?,
        template(only, "certificate", &issued, Some("eq .Values.tls.mode `certManager`"))?,
        template(
            only,
            "network-policy",
            &[workload::network_policy(&setting)],
            Some(".Values.networkPolicy.enabled"),
        )?,
        template(
            only,
            "shards-network-policy",
            &[shards::network_policy(&setting)],
            Some("and .Values.sharded .Values.networkPolicy.enabled"),
        )?,
        template(only, "monitoring", &monitored, Some(".Values.monitoring.enabled"))?,
        template(
            only,
            "metrics-reader",
            &[monitoring::binding(&setting)],
            Some("and .Values.monitoring.enabled .Values.monitoring.prometheus.account"),
        )?,
    ];
    if let Some(service) = service {
        files.push(template(only, "webhooks", &[service], None)?);
    }
    if !configured.is_empty() {
        let everywhere = Some("not .Values.namespaces");
        files.push(template(only, "webhook-configurations", &configured, everywhere)?);
    }
    let below = |file: File| File { path: format!("helm/{}/{}", deployed.name, file.path), ..file };
    Ok(files.into_iter().map(below).collect())
}

fn file(name: &str, text: String) -> File {
    File { path: name.to_owned(), text }
}

fn template<T: serde::Serialize>(
    only: &[String],
    name: &str,
    objects: &[T],
    condition: Option<&str>,
) -> Result<File, ManifestError> {
    // Braces of descriptions and of alerts are no templates.
    let text = braces(&to_yaml("", objects)?.replace("{{", "<<`{{`>>"));
    let text = match condition {
        Some(condition) => format!("{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"),
        None => text,
    };
    Ok(file(&format!("templates/{name}.yaml"), comment(only) + &text))
}

fn comment(only: &[String]) -> String {
    format!("# {}\n", header(only).replace('\n', "\n# "))
}

/// The Secret that helm makes.
fn generated(setting: &Setting) -> Value {
    let mut metadata = setting.metadata();
    metadata["name"] = json!(setting.secret);
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": metadata, "data": "<<include `operetta.generated` . | nindent 2>>",
    })
}

fn kept_crds(crds: Vec<CustomResourceDefinition>) -> Result<Vec<Value>, ManifestError> {
    let keep = |crd: CustomResourceDefinition| {
        let mut crd =
            serde_json::to_value(crd).map_err(|error| ManifestError::Yaml(error.into()))?;
        crd["metadata"]["annotations"] = json!({"helm.sh/resource-policy": "keep"});
        Ok(crd)
    };
    crds.into_iter().map(keep).collect()
}

fn about(deployed: &Deployed) -> Value {
    json!({
        "apiVersion": "v2",
        "name": deployed.name,
        "description": deployed.description,
        "type": "application",
        "version": deployed.version,
        "appVersion": deployed.version,
    })
}
