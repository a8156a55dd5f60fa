//! The values of the chart. One description has their types and defaults: it is `values.schema.json`, and `values.yaml`
//! has its defaults with what they mean.
//!
//! A value that is removed (`null`) is refused: without `networkPolicy.from` everybody could come in.

use crate::manifests::ManifestError;
use serde_json::{Map, Value, json};

use super::{
    pods,
    setting::{API_PORTS, AUDIENCE, RUNBOOKS, SCRAPE_CLASS, merged, peers, resources},
};
use crate::{cli::deployed::Deployed, operator::AnyOperator};

/// The schema.
pub(super) fn schema(deployed: &Deployed, operators: &[AnyOperator], has_webhooks: bool) -> Value {
    let own = json!({
        "global": {"type": "object"},
        "image": image(&deployed.image),
        "operators": chosen(operators),
        "namespaces": {
            "type": "array", "items": {"type": "string", "minLength": 1}, "default": [],
            "description": "The namespaces in which the operators work, with a Role in each. Empty: all.\n\
                            Operators of cluster-scoped parents do not run then.",
        },
        "replicas": {
            "type": "integer", "minimum": 0, "maximum": 10, "default": 1,
            "description": "More than one elects a leader, unless they share the parents out.",
        },
        "sharded": flag(false, "The Pods share the parents out, and each works for some; none leads.\n\
                                Set replicas to 0 before you change it: Pods of one kind do not know those of the other."),
        "args": {
            "type": "array", "items": {"type": "string", "pattern": "^--"}, "default": [],
            "description": "Further arguments, such as --log-level=debug.",
        },
        "resources": {
            "type": "object", "default": resources(),
            "description": "Those of the container.",
        },
        "crds": object(json!({
            "install": flag(true, "They stay when the release is uninstalled."),
        })),
        "auth": auth(),
        "tls": tls(),
        "networkPolicy": network_policy(),
        "monitoring": monitoring(),
    });
    let hooks = if has_webhooks { json!({"webhooks": webhooks()}) } else { json!({}) };
    let mut schema = object(merged(&merged(&own, &hooks), &pods::values()));
    schema["$schema"] = json!("https://json-schema.org/draft-07/schema#");
    schema["title"] = json!(format!("Values of the chart {}", deployed.name));
    schema["if"] = json!({"properties": {"namespaces": {"minItems": 1}}});
    schema["then"] = json!({"properties": {"operators": only_namespaced(operators)}});
    schema
}

/// Those that the program runs within chosen namespaces.
fn only_namespaced(operators: &[AnyOperator]) -> Value {
    let configs = operators.iter().map(AnyOperator::config);
    let names: Vec<_> =
        configs.filter(|it| it.parent().is_namespaced()).map(|it| it.name.as_str()).collect();
    json!({"items": {"enum": names}})
}

fn image(repository: &str) -> Value {
    object(json!({
        "repository": {
            "type": "string", "minLength": 1, "default": repository,
            "description": "Where the image is.",
        },
        "tag": {
            "type": "string", "default": "",
            "description": "Empty: the version of the chart.",
        },
        "pullPolicy": {
            "enum": ["Always", "IfNotPresent", "Never"], "default": "IfNotPresent",
            "description": "When the kubelet pulls the image.",
        },
    }))
}

fn chosen(operators: &[AnyOperator]) -> Value {
    let names: Vec<_> = operators.iter().map(|one| one.config().name()).collect();
    json!({
        "type": "array", "items": {"enum": names}, "uniqueItems": true, "default": [],
        "description": "The operators that run, which have permissions then. Empty: all of the chart.",
    })
}

fn webhooks() -> Value {
    object(json!({
        "failurePolicy": {
            "enum": ["", "Fail", "Ignore"], "default": "",
            "description": "What the API server does without an answer. Empty: what the program says of each webhook.",
        },
        "reinvocationPolicy": {
            "enum": ["", "IfNeeded", "Never"], "default": "",
            "description": "Whether mutating webhooks are asked again after later ones. Empty: what the program says.",
        },
        "annotations": {
            "type": "object", "default": {},
            "description": "Those of the webhook configurations, such as cert-manager.io/inject-ca-from.",
        },
    }))
}

fn auth() -> Value {
    object(json!({
        "audience": {
            "type": "string", "pattern": r"^[^,\s]*$", "default": AUDIENCE,
            "description": "The audience of tokens for the endpoint, which are worth nothing at the API server.\n\
                            Empty: that of the API server, where the process could use the tokens of its users.",
        },
    }))
}

fn tls() -> Value {
    object(json!({
        "mode": {
            "enum": ["generated", "certManager", "secret", "selfSigned"], "default": "generated",
            "description": "Who makes the certificate of the endpoint:\n\
                            generated: helm, with an authority, at the installation; upgrades keep it\n\
                            certManager: cert-manager, which replaces it before it expires\n\
                            secret: you; the Secret has tls.crt, tls.key and ca.crt\n\
                            selfSigned: the process, at each start; nobody can verify it",
        },
        "secretName": {
            "type": "string", "default": "",
            "description": "The Secret with the certificate. Empty: the name of the release with -tls.",
        },
    }))
}

fn network_policy() -> Value {
    let peer = json!({
        "type": "object", "minProperties": 1, "additionalProperties": false,
        "properties": {
            "ipBlock": {"type": "object"},
            "namespaceSelector": {"type": "object"},
            "podSelector": {"type": "object"},
        },
    });
    object(json!({
        "enabled": flag(true, "Restricts the Pods to DNS, the API server and their endpoint."),
        "from": {
            "type": "array", "minItems": 1, "items": peer, "default": peers(),
            "description": "Who may reach the endpoint: the Pods of the namespace of the release, and Prometheus.\n\
                            The kubelet with its probes always may, and so may kubectl port-forward.",
        },
        "apiServerPorts": {
            "type": "array", "minItems": 1, "default": API_PORTS,
            "items": {"type": "integer", "minimum": 1, "maximum": 65535},
            "description": "The ports of the API server: no policy can name its address.",
        },
        "to": {
            "type": "array", "items": {"type": "object"}, "default": [],
            "description": "Further rules of egress, for other systems that the operators call.",
        },
    }))
}

fn monitoring() -> Value {
    object(json!({
        "enabled": flag(false, "For the Prometheus operator: a ServiceMonitor and a PrometheusRule."),
        "scrapeClass": {
            "type": "string", "minLength": 1, "default": SCRAPE_CLASS,
            "description": "The scrape class of the Prometheus object that has the token for the endpoint.",
        },
        "runbookBase": {
            "type": "string", "pattern": r"^https?://\S+$", "default": RUNBOOKS,
            "description": "The address of the book of Operetta: each alert has a link to its section of the page alerts.html.\n\
                            The default leads nowhere.",
        },
        "tokenSecret": {
            "type": "string", "default": "",
            "description": "A Secret of the namespace that has this token. Empty: the scrape class has it.",
        },
        "tokenKey": {
            "type": "string", "minLength": 1, "default": "token",
            "description": "The key of the token in this Secret.",
        },
        "prometheus": object(json!({
            "account": {
                "type": "string", "default": "",
                "description": "The service account of Prometheus, which may then read the metrics. Empty: nobody may.",
            },
            "namespace": {
                "type": "string", "minLength": 1, "default": "monitoring",
                "description": "The namespace of this account.",
            },
        })),
    }))
}

/// All properties with a default are there, also when the user sets others.
fn object(properties: Value) -> Value {
    let names = properties.as_object().into_iter().flat_map(Map::keys);
    let required: Vec<_> = names.filter(|name| *name != "global").cloned().collect();
    let mut object = json!({"type": "object", "additionalProperties": false, "required": required});
    object["properties"] = properties;
    object
}

fn flag(default: bool, about: &str) -> Value {
    json!({"type": "boolean", "default": default, "description": about})
}

/// `values.yaml` without its header.
pub(super) fn defaults(schema: &Value) -> Result<String, ManifestError> {
    schema["properties"].as_object().map_or(Ok(String::new()), lines)
}

fn lines(properties: &Map<String, Value>) -> Result<String, ManifestError> {
    properties.iter().map(|(name, property)| one(name, property)).collect()
}

fn one(name: &str, property: &Value) -> Result<String, ManifestError> {
    if let Some(inner) = property["properties"].as_object() {
        let inner = lines(inner)?;
        let indented = inner.lines().map(|line| format!("  {line}\n"));
        return Ok(format!("{name}:\n{}", indented.collect::<String>()));
    }
    let Some(default) = property.get("default") else { return Ok(String::new()) };
    let about = property["description"].as_str().unwrap_or_default();
    let comment = about.lines().map(|line| format!("# {line}\n"));
    let value = serde_yaml_ng::to_string(&json!({ name: default }))
        .map_err(|error| ManifestError::Yaml(error.into()))?;
    Ok(comment.collect::<String>() + &value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves<'a>(name: &'a str, property: &'a Value) -> Vec<(&'a str, &'a Value)> {
        match property["properties"].as_object() {
            Some(inner) => inner.iter().flat_map(|(name, it)| leaves(name, it)).collect(),
            None => vec![(name, property)],
        }
    }

    #[test]
    fn every_value_has_a_default_and_says_what_it_means() {
        let schema = schema(&Deployed::new("website", "1.2.3"), &[], true);
        let described = leaves("", &schema);
        assert!(described.len() > 10, "{described:?}");
        for (name, property) in described.into_iter().filter(|(name, _)| *name != "global") {
            assert!(property.get("default").is_some(), "{name}");
            assert!(property["description"].is_string(), "{name}");
        }
    }
}
