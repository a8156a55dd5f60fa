//! The permissions in the chart: of all operators or of chosen ones, everywhere or in the given namespaces.

use std::fmt::Write as _;

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use super::{helpers::braces, setting::Setting};
use crate::{
    cli::{crds::Types, only::restricted, rbac},
    manifests::{Account, Manifest, ManifestError, Permissions, of_the_whole_cluster, to_yaml},
    operator::AnyOperator,
};

/// Stands for each of the namespaces in which the operators work.
const NAMESPACE: &str = "namespace";

/// The templates of roles, bindings and the account.
pub(super) fn template(
    setting: &Setting,
    operators: &[AnyOperator],
    types: &Types,
) -> Result<String, ManifestError> {
    let account = Account::new(&setting.name, &setting.namespace);
    let mut always = types.permit(rbac::permissions(operators)?).manifests(&account);
    always.retain(|manifest| !has_name(manifest, &account.name));
    let whole = of_the_whole_cluster(&account);
    let is_whole = |manifest: &Manifest| whole.iter().any(|name| has_name(manifest, name));
    let (whole, always): (Vec<_>, Vec<_>) = always.into_iter().partition(is_whole);
    let everywhere = rules(operators, &Permissions::rules)?;
    let within = restricted(operators.to_vec(), &[NAMESPACE.to_owned()]);
    let beside = rules(&within, &Permissions::rules)?;
    let inside = rules(&within, &|all| all.rules_within(NAMESPACE))?;
    let mut text = objects(setting, &always, None)?;
    text += "{{- if not .Values.namespaces }}\n";
    text += &objects(setting, &bound("ClusterRole", setting, None), Some(&everywhere))?;
    text += &objects(setting, &whole, None)?;
    text += "{{- else }}\n";
    if !beside.is_empty() {
        text += &objects(setting, &bound("ClusterRole", setting, None), Some(&beside))?;
    }
    // Within a range, `.` is the namespace.
    text += "{{- range .Values.namespaces }}\n{{- $namespace := . }}\n{{- with $ }}\n";
    let in_each = bound("Role", setting, Some("<<$namespace | quote>>"));
    text += &objects(setting, &in_each, Some(&inside))?;
    text += "{{- end }}\n{{- end }}\n{{- end }}\n";
    Ok(text)
}

/// Whether it is a cluster role of this name, or its binding.
fn has_name(manifest: &Manifest, name: &str) -> bool {
    let metadata = match manifest {
        Manifest::ClusterRole(role) => &role.metadata,
        Manifest::ClusterRoleBinding(binding) => &binding.metadata,
        _ => return false,
    };
    metadata.name.as_deref() == Some(name)
}

/// A role, whose rules are written later, and its binding to the account.
fn bound(kind: &str, setting: &Setting, namespace: Option<&str>) -> [Value; 2] {
    const VERSION: &str = "rbac.authorization.k8s.io/v1";
    // The role of the account in its own namespace is that for Leases.
    let name = match namespace {
        Some(_) => format!("{}-operators", setting.name),
        None => setting.name.clone(),
    };
    let mut metadata = json!({"name": name});
    metadata["namespace"] = namespace.map_or(Value::Null, Value::from);
    let account = json!({
        "kind": "ServiceAccount", "name": setting.name, "namespace": setting.namespace,
    });
    [
        json!({"apiVersion": VERSION, "kind": kind, "metadata": metadata, "rules": RULES}),
        json!({
            "apiVersion": VERSION, "kind": format!("{kind}Binding"), "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
            "subjects": [account],
        }),
    ]
}

const RULES: &str = "<<rules>>";

fn objects<T: serde::Serialize>(
    setting: &Setting,
    objects: &[T],
    rules: Option<&str>,
) -> Result<String, ManifestError> {
    let to_value =
        |object: &T| serde_json::to_value(object).map_err(|it| ManifestError::Yaml(it.into()));
    let mut values: Vec<Value> = objects.iter().map(to_value).collect::<Result<_, _>>()?;
    for value in &mut values {
        value["metadata"]["labels"] = setting.labels();
        if let Some(metadata) = value["metadata"].as_object_mut() {
            metadata.retain(|_, field| !field.is_null());
        }
        if value["kind"] == "ServiceAccount" {
            value["metadata"]["annotations"] = setting.account_annotations.clone();
        }
    }
    let text = to_yaml("", &values)?;
    let text = match rules {
        Some(rules) => text.replace(&format!(" {RULES}\n"), &format!("\n{rules}")),
        None => text,
    };
    Ok(braces(&text))
}

/// The rules of the operators together where all of them run, else those of each that runs. Empty if there are none.
fn rules(
    operators: &[AnyOperator],
    of: &dyn Fn(&Permissions) -> Vec<PolicyRule>,
) -> Result<String, ManifestError> {
    let together = of(&rbac::permissions(operators)?);
    if together.is_empty() {
        return Ok(String::new());
    }
    let mut text = "{{- if .Values.operators }}\n".to_owned();
    for operator in operators {
        let rules = of(&rbac::permissions(std::slice::from_ref(operator))?);
        if !rules.is_empty() {
            let name = operator.config().name();
            let (rules, has) = (yaml(&rules)?, format!("has `{name}` .Values.operators"));
            // Writing to a text cannot fail.
            let _ = write!(text, "{{{{- if {has} }}}}\n{rules}{{{{- end }}}}\n");
        }
    }
    Ok(text + "{{- else }}\n" + &yaml(&together)? + "{{- end }}\n")
}

fn yaml(rules: &[PolicyRule]) -> Result<String, ManifestError> {
    serde_yaml_ng::to_string(rules).map_err(|error| ManifestError::Yaml(error.into()))
}
