//! What lets the API server call the webhooks of a program: a Service of their own, and the webhook configurations.

use serde_json::{Value, json};

use super::setting::{Setting, merged, port};
use crate::{
    cli::crds::Types,
    manifests::{configurations, webhook_service},
    operator::{AnyOperator, admission::Webhook},
};

/// The name of the port of a Pod.
const PORT_NAME: &str = "webhooks";

/// The same of a program that the API server calls.
pub(super) fn called(mut setting: Setting, types: &Types) -> Setting {
    setting.webhook_port = types.called_port();
    if setting.webhook_port.is_some() {
        let service = webhook_service(&setting.name);
        setting.webhook_args = vec![format!("--webhook-service={service}")];
    }
    if let Some(args) = setting.args.as_array_mut() {
        args.extend(setting.webhook_args.iter().cloned().map(Value::from));
    }
    setting
}

/// The configurations; none for a program without webhooks, and for one that is called at an address. Of these operators
/// values choose those that run.
pub(super) fn configured(
    setting: &Setting,
    types: &Types,
    operators: &[AnyOperator],
) -> Vec<Value> {
    if setting.webhook_port.is_none() {
        return Vec::new();
    }
    let webhooks: Vec<&Webhook> = types.webhooks.iter().collect();
    let reach = types.reach(&setting.namespace, &setting.name);
    let mut configurations = configurations(&types.program, &webhooks, &reach, None);
    for configuration in &mut configurations {
        configuration["metadata"]["labels"] = setting.labels();
        if setting.has_values {
            changed_by_values(configuration);
        }
        only_while_they_run(configuration, &types.webhooks, operators);
    }
    configurations
}

/// The Service, where the API server calls one. Every replica answers, also one that is not ready: to list its objects it may
/// need its own conversion.
pub(super) fn service(setting: &Setting) -> Option<Value> {
    setting.webhook_port?;
    let mut metadata = setting.metadata();
    metadata["name"] = webhook_service(&setting.name).into();
    Some(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "publishNotReadyAddresses": true,
            "selector": setting.selector,
            "ports": [{"name": PORT_NAME, "port": 443, "targetPort": PORT_NAME}],
        },
    }))
}

/// The ports of the container.
pub(super) fn container_ports(setting: &Setting, first: Value) -> Value {
    let port = setting.webhook_port;
    let own = port.map(|port| json!({"name": PORT_NAME, "containerPort": port}));
    std::iter::once(first).chain(own).collect()
}

/// API servers may have any address.
pub(super) fn ingress(setting: &Setting, first: Value) -> Value {
    let own = setting.webhook_port.map(|number| json!({"ports": [port("TCP", number)]}));
    std::iter::once(first).chain(own).collect()
}

/// What the values of a chart change of a configuration.
fn changed_by_values(configuration: &mut Value) {
    for entry in configuration["webhooks"].as_array_mut().into_iter().flatten() {
        let given = &entry["failurePolicy"];
        let policy = format!("<<.Values.webhooks.failurePolicy | default `{}`>>", text(given));
        entry["failurePolicy"] = policy.into();
        if entry.get("reinvocationPolicy").is_some() {
            let given = text(&entry["reinvocationPolicy"]).to_owned();
            let policy = format!("<<.Values.webhooks.reinvocationPolicy | default `{given}`>>");
            entry["reinvocationPolicy"] = policy.into();
        }
    }
    let metadata = &configuration["metadata"];
    let annotations = "<<toYaml .Values.webhooks.annotations | nindent 4>>";
    configuration["metadata"] = merged(metadata, &json!({"annotations": annotations}));
}

/// The API server does not ask about the parents of an operator that does not run: nobody would answer.
fn only_while_they_run(configuration: &mut Value, webhooks: &[Webhook], operators: &[AnyOperator]) {
    for entry in configuration["webhooks"].as_array_mut().into_iter().flatten() {
        let webhook = webhooks.iter().find(|webhook| webhook.name() == text(&entry["name"]));
        let Some(ty) = webhook.map(|webhook| webhook.ty.resource_name()) else { continue };
        let theirs = operators.iter().filter(|one| one.config().parent().resource_name() == ty);
        let run: Vec<String> = theirs
            .map(|one| format!("(has `{}` .Values.operators)", one.config().name()))
            .collect();
        if !run.is_empty() {
            let any = format!("<<or (not .Values.operators) {} | quote>>", run.join(" "));
            let condition = json!({"name": "its-operator-runs", "expression": any});
            let before = entry["matchConditions"].as_array().cloned().unwrap_or_default();
            entry["matchConditions"] = before.into_iter().chain([condition]).collect();
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
