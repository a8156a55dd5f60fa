//! Webhook configurations, and the conversions of CRDs, from what a program registers.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    object::K8sType,
    operator::{
        admission::{FailurePolicy, Reinvocation, SideEffects, Webhook, WebhookKind},
        conversion::Versions,
    },
};

/// How the API server reaches the webhooks of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookReach {
    /// By a Service of the cluster.
    Service {
        /// The namespace of the Service, which is that of the program.
        namespace: String,
        /// The name of the Service.
        name: String,
        /// The port of the Service.
        port: u16,
    },
    /// By an address, such as `https://host:9443`, for a program outside of the cluster.
    Url(String),
}

/// The field manager of what lets the API server call webhooks.
pub(crate) const WEBHOOK_MANAGER: &str = "operetta-webhooks";

/// The port of a Service that the API server calls unless another is named.
pub(crate) const SERVICE_PORT: u16 = 443;

/// The name of the Service by which the API server calls the webhooks of a program, unless it has another one: that of its
/// web endpoint has the port already.
pub fn webhook_service(program: &str) -> String {
    format!("{program}-webhooks")
}

/// The name of the Secret with the certificates of webhooks that all replicas of a program share.
pub fn webhook_secret(program: &str) -> String {
    format!("{program}-webhook-certificates")
}

/// The type of the objects of [`configurations`], by what their webhooks may do.
pub(super) fn configuration_type(kind: WebhookKind) -> K8sType {
    let (kind, plural) = match kind {
        WebhookKind::Validating => {
            ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations")
        }
        WebhookKind::Mutating => ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
    };
    K8sType::cluster_scoped("admissionregistration.k8s.io/v1", kind, plural)
}

/// A configuration for all validating webhooks, and one for all mutating ones, of the name of the program. The API server
/// calls the mutating ones in the order in which they were registered.
pub(crate) fn configurations(
    program: &str,
    webhooks: &[&Webhook],
    reach: &WebhookReach,
    ca: Option<&str>,
) -> Vec<Value> {
    let of_kind = |kind: WebhookKind| {
        let of_it = webhooks.iter().filter(|it| it.kind() == kind);
        let entries: Vec<Value> = of_it.map(|it| entry(it, reach, ca)).collect();
        let ty = configuration_type(kind);
        (!entries.is_empty()).then(|| {
            json!({
                "apiVersion": ty.api_version(), "kind": ty.kind(), "metadata": {"name": program},
                "webhooks": entries,
            })
        })
    };
    [WebhookKind::Mutating, WebhookKind::Validating].into_iter().filter_map(of_kind).collect()
}

/// The field `spec.conversion` of the CRD of these versions.
pub(crate) fn conversion(versions: &Versions, reach: &WebhookReach, ca: Option<&str>) -> Value {
    json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": client_config(&versions.path(), reach, ca),
    }})
}

fn entry(webhook: &Webhook, reach: &WebhookReach, ca: Option<&str>) -> Value {
    let mut entry = json!({
        "name": webhook.name(),
        "clientConfig": client_config(&webhook.path(), reach, ca),
        "rules": [rule(webhook)],
        "failurePolicy": match webhook.failure_policy {
            FailurePolicy::Fail => "Fail",
            FailurePolicy::Ignore => "Ignore",
        },
        "sideEffects": match webhook.side_effects {
            SideEffects::None => "None",
            SideEffects::NoneOnDryRun => "NoneOnDryRun",
        },
        "timeoutSeconds": seconds(webhook.timeout),
        "admissionReviewVersions": ["v1"],
    });
    if webhook.kind() == WebhookKind::Mutating {
        entry["reinvocationPolicy"] = match webhook.reinvocation {
            Reinvocation::Never => "Never",
            Reinvocation::IfNeeded => "IfNeeded",
        }
        .into();
    }
    if let Some(selector) = webhook.namespace_selector.clone().or_else(|| elsewhere(webhook, reach))
    {
        entry["namespaceSelector"] = selector;
    }
    if let Some(selector) = &webhook.object_selector {
        entry["objectSelector"] = selector.clone();
    }
    if !webhook.match_conditions.is_empty() {
        entry["matchConditions"] = json!(webhook.match_conditions);
    }
    entry
}

fn rule(webhook: &Webhook) -> Value {
    let (ty, plural) = (&webhook.ty, webhook.ty.plural());
    let resource = match &webhook.subresource {
        Some(subresource) => format!("{plural}/{subresource}"),
        None => plural.to_owned(),
    };
    let scope = if ty.is_namespaced() { "Namespaced" } else { "Cluster" };
    json!({
        "apiGroups": [ty.group()], "apiVersions": [ty.version()], "resources": [resource],
        "operations": webhook.operations, "scope": scope,
    })
}

/// The namespaces of what runs the cluster: networks and DNS, and the heartbeats of nodes.
const OF_THE_CLUSTER: [&str; 2] = ["kube-system", "kube-node-lease"];

/// All namespaces but that of the program: a webhook that does not answer must not keep the Pods away that would answer,
/// nor those without which no Pod starts.
fn elsewhere(webhook: &Webhook, reach: &WebhookReach) -> Option<Value> {
    let WebhookReach::Service { namespace, .. } = reach else { return None };
    let mut namespaces = vec![namespace.as_str()];
    if webhook.ty.is_builtin() {
        namespaces.extend(OF_THE_CLUSTER.into_iter().filter(|it| it != namespace));
    }
    webhook.ty.is_namespaced().then(|| {
        json!({"matchExpressions": [{
            "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": namespaces,
        }]})
    })
}

fn client_config(path: &str, reach: &WebhookReach, ca: Option<&str>) -> Value {
    let mut config = match reach {
        WebhookReach::Service { namespace, name, port } => json!({
            "service": {"namespace": namespace, "name": name, "port": port, "path": path},
        }),
        WebhookReach::Url(url) => json!({"url": format!("{}{path}", url.trim_end_matches('/'))}),
    };
    if let Some(ca) = ca {
        config["caBundle"] = STANDARD.encode(ca).into();
    }
    config
}

fn seconds(timeout: Duration) -> u64 {
    timeout.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::admission::{Admission, AdmissionRequest, Operation};

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    fn allow(_: &AdmissionRequest) -> anyhow::Result<Admission> {
        Ok(Admission::allow())
    }

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    fn change(_: &AdmissionRequest, _: &mut Value) -> anyhow::Result<Admission> {
        Ok(Admission::allow())
    }

    fn shops() -> K8sType {
        K8sType::namespaced("example.com/v1", "Shop", "shops")
    }

    fn service() -> WebhookReach {
        let (namespace, name) = ("operators".to_owned(), "shop-operator".to_owned());
        WebhookReach::Service { namespace, name, port: 443 }
    }

    #[test]
    fn a_configuration_has_the_webhooks_of_one_kind_and_leaves_the_namespace_of_the_program_out() {
        let webhooks = [
            Webhook::validate_type("open", shops(), allow)
                .on([Operation::Delete])
                .subresource("status"),
            Webhook::mutate_type("defaults", shops(), change),
        ];
        let [mutating, validating] =
            configurations("shop-operator", &webhooks.each_ref(), &service(), Some("pem"))
                .try_into()
                .unwrap();
        assert_eq!(mutating["kind"], "MutatingWebhookConfiguration");
        assert_eq!(mutating["webhooks"][0]["reinvocationPolicy"], "Never");
        assert_eq!(
            validating["webhooks"][0],
            json!({
                "name": "open.shops.example.com",
                "clientConfig": {
                    "service": {
                        "namespace": "operators", "name": "shop-operator", "port": 443,
                        "path": "/webhooks/open.shops.example.com",
                    },
                    "caBundle": "cGVt",
                },
                "rules": [{
                    "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["shops/status"],
                    "operations": ["DELETE"], "scope": "Namespaced",
                }],
                "failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 10,
                "admissionReviewVersions": ["v1"],
                "namespaceSelector": {"matchExpressions": [{
                    "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["operators"],
                }]},
            })
        );
    }

    #[test]
    fn what_runs_the_cluster_does_not_wait_for_a_webhook_of_a_built_in_type() {
        let left_out = |ty: K8sType, reach: &WebhookReach| {
            let webhook = Webhook::validate_type("open", ty, allow);
            let all = configurations("p", &[&webhook], reach, None);
            all[0]["webhooks"][0]["namespaceSelector"]["matchExpressions"][0]["values"].clone()
        };
        let pods = K8sType::namespaced("v1", "Pod", "pods");
        let leases = K8sType::namespaced("coordination.k8s.io/v1", "Lease", "leases");
        for ty in [pods.clone(), leases] {
            assert_eq!(
                left_out(ty, &service()),
                json!(["operators", "kube-system", "kube-node-lease"])
            );
        }
        assert_eq!(left_out(shops(), &service()), json!(["operators"]));
        let (namespace, name) = ("kube-system".to_owned(), "p".to_owned());
        let there = WebhookReach::Service { namespace, name, port: 443 };
        assert_eq!(left_out(pods, &there), json!(["kube-system", "kube-node-lease"]));
        let nodes = K8sType::cluster_scoped("v1", "Node", "nodes");
        assert_eq!(left_out(nodes, &service()), Value::Null);
    }

    #[test]
    fn what_a_webhook_says_replaces_what_is_usual() {
        let webhook = Webhook::validate_type("open", shops(), allow)
            .failure_policy(FailurePolicy::Ignore)
            .side_effects(SideEffects::NoneOnDryRun)
            .timeout(Duration::from_secs(3))
            .matching("not-us", "request.userInfo.username != 'us'")
            .namespace_selector(json!({"matchLabels": {"a": "b"}}))
            .object_selector(json!({"matchLabels": {"c": "d"}}));
        let all = configurations("p", &[&webhook], &service(), None);
        let entry = &all[0]["webhooks"][0];
        assert_eq!(
            (&entry["failurePolicy"], &entry["sideEffects"]),
            (&json!("Ignore"), &json!("NoneOnDryRun"))
        );
        assert_eq!(entry["timeoutSeconds"], 3);
        assert_eq!(entry["namespaceSelector"], json!({"matchLabels": {"a": "b"}}));
        assert_eq!(entry["objectSelector"], json!({"matchLabels": {"c": "d"}}));
        assert_eq!(entry["matchConditions"][0]["name"], "not-us");
        assert_eq!(entry["clientConfig"].get("caBundle"), None);
    }

    #[test]
    fn a_program_outside_of_the_cluster_is_reached_by_its_address() {
        let webhook = Webhook::validate_type("open", shops(), allow);
        let reach = WebhookReach::Url("https://host:9443/".to_owned());
        let entry = &configurations("p", &[&webhook], &reach, None)[0]["webhooks"][0];
        assert_eq!(
            entry["clientConfig"]["url"],
            "https://host:9443/webhooks/open.shops.example.com"
        );
        assert_eq!(entry.get("namespaceSelector"), None);
    }
}
