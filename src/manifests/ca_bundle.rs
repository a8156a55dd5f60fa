//! Keeps `caBundle` right in what lets the API server call the webhooks of a program, and changes nothing else there.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::webhooks::{WEBHOOK_MANAGER, configuration_type};
use crate::{
    object::K8sType,
    operator::{
        admission::{Webhook, WebhookKind},
        conversion::Versions,
    },
};

/// An object by which the API server calls webhooks of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) ty: K8sType,
    pub(crate) name: String,
    /// The names of its webhooks; empty for a CRD, which has one conversion.
    webhooks: Vec<String>,
}

/// What an object that exists lacks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Correction {
    /// A strategic merge patch with the version that was read: nothing if all have the bundle.
    pub(crate) patch: Option<Value>,
    /// What it does not name, so that the API server does not call it.
    pub(crate) absent: Vec<String>,
}

/// The objects of the webhooks and versions of a program.
pub(crate) fn callers<'a>(
    program: &str,
    webhooks: &[&Webhook],
    versions: impl Iterator<Item = &'a Versions>,
) -> Vec<Caller> {
    let of_kind = |kind: WebhookKind| {
        let of_it = webhooks.iter().filter(|it| it.kind() == kind);
        let names: Vec<String> = of_it.map(|it| it.name().clone()).collect();
        let configuration =
            Caller { ty: configuration_type(kind), name: program.to_owned(), webhooks: names };
        (!configuration.webhooks.is_empty()).then_some(configuration)
    };
    let configurations =
        [WebhookKind::Mutating, WebhookKind::Validating].into_iter().filter_map(of_kind);
    let crds = versions.map(|versions| Caller {
        ty: definitions(),
        name: versions.hub.resource_name(),
        webhooks: Vec::new(),
    });
    configurations.chain(crds).collect()
}

fn definitions() -> K8sType {
    let (version, plural) = ("apiextensions.k8s.io/v1", "customresourcedefinitions");
    K8sType::cluster_scoped(version, "CustomResourceDefinition", plural)
}

impl Caller {
    /// What is wrong with the object. The service is that of this program, by namespace and name: its other webhooks
    /// there, such as those of another version of the program, get the bundle too.
    pub(crate) fn correction(&self, live: &Value, service: (&str, &str), ca: &[u8]) -> Correction {
        let ca = STANDARD.encode(ca);
        if self.webhooks.is_empty() {
            return self.of_conversion(live, &ca);
        }
        let entries = live["webhooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ours: Vec<&Value> = entries
            .iter()
            .filter(|entry| self.has(entry) || calls(&entry["clientConfig"], service))
            .collect();
        let is_named = |name: &&String| !entries.iter().any(|entry| entry["name"] == ***name);
        let absent = self.webhooks.iter().filter(is_named).cloned().collect();
        let is_right = ours.iter().all(|entry| entry["clientConfig"]["caBundle"] == *ca);
        let entries: Vec<Value> = ours
            .iter()
            .map(|entry| json!({"name": entry["name"], "clientConfig": {"caBundle": ca}}))
            .collect();
        let patch = (!is_right).then(|| with(self.patch(live), "webhooks", json!(entries)));
        Correction { patch, absent }
    }

    fn of_conversion(&self, live: &Value, ca: &str) -> Correction {
        let conversion = &live["spec"]["conversion"];
        if conversion["strategy"] != "Webhook" {
            return Correction { patch: None, absent: vec!["conversion".to_owned()] };
        }
        let patch = if conversion["webhook"]["clientConfig"]["caBundle"] == *ca {
            self.release(live)
        } else {
            let spec = json!({"conversion": {"webhook": {"clientConfig": {"caBundle": ca}}}});
            Some(with(self.patch(live), "spec", spec))
        };
        Correction { patch, absent: Vec::new() }
    }

    /// Leaves the field to nobody: as long as a manager owns it, it stays when the owner of the CRD takes the conversion out
    /// by server-side apply, and the API server refuses the rest without its strategy.
    fn release(&self, live: &Value) -> Option<Value> {
        let managers = live["metadata"]["managedFields"].as_array()?;
        let is_ours = |entry: &&Value| entry["manager"] == WEBHOOK_MANAGER;
        let others: Vec<&Value> = managers.iter().filter(|entry| !is_ours(entry)).collect();
        // The API server takes an empty list for none.
        if others.is_empty() || others.len() == managers.len() {
            return None;
        }
        let mut patch = self.patch(live);
        patch["metadata"]["managedFields"] = json!(others);
        Some(patch)
    }

    /// With the version, it changes nothing that somebody wrote meanwhile, and creates nothing.
    fn patch(&self, live: &Value) -> Value {
        json!({
            "apiVersion": self.ty.api_version(), "kind": self.ty.kind(),
            "metadata": {
                "name": self.name, "resourceVersion": live["metadata"]["resourceVersion"],
            },
        })
    }

    fn has(&self, entry: &Value) -> bool {
        entry["name"].as_str().is_some_and(|name| self.webhooks.iter().any(|it| it == name))
    }
}

fn with(mut patch: Value, field: &str, value: Value) -> Value {
    patch[field] = value;
    patch
}

fn calls(config: &Value, (namespace, name): (&str, &str)) -> bool {
    config["service"]["namespace"] == namespace && config["service"]["name"] == name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::admission::{Admission, AdmissionRequest};

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    fn allow(_: &AdmissionRequest) -> anyhow::Result<Admission> {
        Ok(Admission::allow())
    }

    const SERVICE: (&str, &str) = ("operators", "shop");

    fn caller() -> Caller {
        let shops = K8sType::namespaced("example.com/v1", "Shop", "shops");
        let webhooks =
            ["open", "close"].map(|name| Webhook::validate_type(name, shops.clone(), allow));
        callers("shop", &webhooks.each_ref(), std::iter::empty()).remove(0)
    }

    fn entry(name: &str, service: &str, ca: Option<&str>) -> Value {
        let service = json!({"namespace": "operators", "name": service, "path": "/"});
        json!({"name": name, "clientConfig": {"service": service, "caBundle": ca}, "rules": []})
    }

    #[test]
    fn only_the_bundle_of_webhooks_of_the_program_is_patched() {
        let live = json!({"metadata": {"resourceVersion": "7"}, "webhooks": [
            entry("open.shops.example.com", "shop", Some("")),
            entry("theirs.example.com", "other", None),
            entry("next.shops.example.com", "shop", None),
        ]});
        let correction = caller().correction(&live, SERVICE, b"pem");
        let patch = correction.patch.unwrap();
        assert_eq!(patch["kind"], "ValidatingWebhookConfiguration");
        assert_eq!(patch["metadata"], json!({"name": "shop", "resourceVersion": "7"}));
        let config = json!({"caBundle": "cGVt"});
        assert_eq!(
            patch["webhooks"],
            json!([
                {"name": "open.shops.example.com", "clientConfig": config},
                {"name": "next.shops.example.com", "clientConfig": config},
            ])
        );
        assert_eq!(correction.absent, ["close.shops.example.com"]);
    }

    #[test]
    fn nothing_is_patched_where_all_have_the_bundle() {
        let names = ["open.shops.example.com", "close.shops.example.com"];
        let right = names.map(|name| entry(name, "shop", Some("cGVt")));
        let live = json!({"metadata": {"resourceVersion": "7"}, "webhooks": right});
        assert_eq!(caller().correction(&live, SERVICE, b"pem"), Correction::default());
        let empty = caller().correction(&json!({"metadata": {}}), SERVICE, b"pem");
        assert_eq!((empty.patch, empty.absent.len()), (None, 2));
    }

    #[test]
    fn a_conversion_by_webhook_gets_the_bundle_and_another_strategy_is_left() {
        let crd = Caller { webhooks: Vec::new(), ty: definitions(), ..caller() };
        let mut live = json!({"metadata": {"resourceVersion": "7"},
            "spec": {"group": "example.com", "conversion": {"strategy": "None"}}});
        let correction = crd.correction(&live, SERVICE, b"pem");
        assert_eq!((correction.patch, &*correction.absent[0]), (None, "conversion"));
        live["spec"]["conversion"] =
            json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {}}}});
        let patch = crd.correction(&live, SERVICE, b"pem").patch.unwrap();
        let expected = json!({"webhook": {"clientConfig": {"caBundle": "cGVt"}}});
        assert_eq!(patch["spec"], json!({"conversion": expected}));
        live["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "cGVt".into();
        assert_eq!(crd.correction(&live, SERVICE, b"pem"), Correction::default());

        // Who owns the conversion can take it out when nobody owns the bundle.
        let (chart, ours) = (json!({"manager": "helm"}), json!({"manager": WEBHOOK_MANAGER}));
        live["metadata"]["managedFields"] = json!([chart, ours]);
        let patch = crd.correction(&live, SERVICE, b"pem").patch.unwrap();
        let metadata = json!({"name": "shop", "resourceVersion": "7", "managedFields": [chart]});
        assert_eq!((&patch["metadata"], patch.get("spec")), (&metadata, None));
        live["metadata"]["managedFields"] = json!([chart]);
        assert_eq!(crd.correction(&live, SERVICE, b"pem"), Correction::default());
    }
}
