//! `deploy/helm`: the same manifests as a Helm chart, with a schema of its values.
//!
//! CRDs are templates and not in `crds/`, which Helm installs once and never upgrades. They stay when the release goes:
//! with a CRD all objects of its type would be deleted, and what belongs to them.

use operetta::manifests::{Account, ManifestError, to_yaml};
use serde_json::{Value, json};

use super::{
    file::{File, header},
    monitoring,
    setting::{IMAGE, Setting, args, resources},
    workload,
};
use crate::{Operator, crds, rbac};

/// The files of the chart; `only` are the names by which the operators were chosen, none for all.
///
/// # Errors
/// The declarations of an operator make no manifest.
pub fn chart(operators: &[Operator], only: &[String]) -> Result<Vec<File>, ManifestError> {
    let setting = Setting::chart();
    let account = Account::new(&setting.name, &setting.namespace);
    let rules = rbac::permissions(operators)?.manifests(&account);
    let monitored = [monitoring::service_monitor(&setting), monitoring::prometheus_rule(&setting)?];
    let schema =
        serde_json::to_string_pretty(&schema()).map_err(|it| ManifestError::Yaml(it.into()))?;
    Ok(vec![
        file("Chart.yaml", to_yaml(&header(only), &[about()])?),
        file("values.yaml", to_yaml(&header(only), &[values()])?),
        file("values.schema.json", schema + "\n"),
        file("templates/_helpers.tpl", helpers(only)),
        template(only, "crds", &kept_crds(operators)?, Some(".Values.crds.install"))?,
        template(only, "rbac", &rules, None)?,
        template(only, "operators", &workload::always(&setting), None)?,
        template(
            only,
            "network-policy",
            &[workload::network_policy(&setting)],
            Some(".Values.networkPolicy.enabled"),
        )?,
        template(only, "monitoring", &monitored, Some(".Values.monitoring.enabled"))?,
    ])
}

fn file(name: &str, text: String) -> File {
    File { path: format!("helm/operetta/{name}"), text }
}

fn template<T: serde::Serialize>(
    only: &[String],
    name: &str,
    objects: &[T],
    condition: Option<&str>,
) -> Result<File, ManifestError> {
    // Braces of descriptions and of alerts are no templates.
    let escaped = to_yaml("", objects)?.replace("{{", "<<`{{`>>");
    let text = escaped.replace("<<", "{{ ").replace(">>", " }}");
    let text = match condition {
        Some(condition) => format!("{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"),
        None => text,
    };
    let header = format!("# {}\n", header(only).replace('\n', "\n# "));
    Ok(file(&format!("templates/{name}.yaml"), header + &text))
}

fn kept_crds(operators: &[Operator]) -> Result<Vec<Value>, ManifestError> {
    let keep = |crd| {
        let mut crd =
            serde_json::to_value(crd).map_err(|error| ManifestError::Yaml(error.into()))?;
        crd["metadata"]["annotations"] = json!({"helm.sh/resource-policy": "keep"});
        Ok(crd)
    };
    crds::crds(operators).into_iter().map(keep).collect()
}

fn about() -> Value {
    json!({
        "apiVersion": "v2",
        "name": "operetta",
        "description": "The operators of Operetta in one process.",
        "type": "application",
        "version": env!("CARGO_PKG_VERSION"),
        "appVersion": env!("CARGO_PKG_VERSION"),
    })
}

fn values() -> Value {
    json!({
        "image": {"repository": IMAGE, "tag": "", "pullPolicy": "IfNotPresent"},
        "replicas": 1,
        "args": [],
        "resources": resources(),
        "crds": {"install": true},
        "networkPolicy": {"enabled": true},
        "monitoring": {"enabled": false},
    })
}

/// More than one replica elects a leader.
fn helpers(only: &[String]) -> String {
    let args = format!("- {}\n", args(only).join("\n- "));
    format!(
        "{{{{- define \"operetta.args\" -}}}}\n{args}{{{{- if gt (int .Values.replicas) 1 }}}}\n- --leader-elect\n{{{{- end }}}}\n\
         {{{{- range .Values.args }}}}\n- {{{{ . | quote }}}}\n{{{{- end }}}}\n{{{{- end -}}}}\n"
    )
}

fn schema() -> Value {
    let object = |properties: Value| json!({"type": "object", "additionalProperties": false, "properties": properties});
    let flag =
        |name: &str, about: &str| object(json!({name: {"type": "boolean", "description": about}}));
    let mut schema = object(json!({
        "global": {"type": "object"},
        "image": object(json!({
            "repository": {"type": "string", "minLength": 1},
            "tag": {"type": "string", "description": "Default: the version of the chart."},
            "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
        })),
        "replicas": {
            "type": "integer", "minimum": 0, "maximum": 10,
            "description": "More than one elects a leader.",
        },
        "args": {
            "type": "array", "items": {"type": "string", "pattern": "^--"},
            "description": "Further arguments, such as --log-level=debug.",
        },
        "resources": {"type": "object", "description": "Those of the container."},
        "crds": flag("install", "They stay when the release is uninstalled."),
        "networkPolicy": flag("enabled", "Restricts the Pods to DNS, the API server and their endpoint."),
        "monitoring": flag("enabled", "For the Prometheus operator."),
    }));
    schema["$schema"] = json!("https://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Values of the chart operetta");
    schema
}
