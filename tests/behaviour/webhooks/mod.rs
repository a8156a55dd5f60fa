//! Webhooks: the API server itself calls the process.

mod admission;
mod asked;
mod certificates;
mod conversion;
mod database;
mod load;
mod migration;
mod outage;

use operetta::{
    operator::admission::{Webhook, WebhookKind},
    supervisor::SupervisorBuilder,
    web::Tls,
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};

use crate::world::*;

const VALIDATING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
);
const MUTATING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
);

/// A process that answers webhooks on loopback, and its certificate.
struct Answering {
    world: World,
    operators: Operators,
    certificate: String,
}

impl Answering {
    /// With these webhooks, which the API server calls from now on, in the namespace of the test.
    async fn start(webhooks: Vec<Webhook>) -> Self {
        Self::with(webhooks, |builder| builder).await
    }

    async fn with(
        webhooks: Vec<Webhook>,
        also: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Self {
        let world = World::new().await;
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        let tls = Tls::from_pem(cert.pem(), signing_key.serialize_pem());
        let registered = webhooks.clone();
        let operators = world
            .start(move |builder| {
                let builder = operators::register_all(also(builder), operators::all());
                let serving = builder.webhooks("127.0.0.1:0").webhook_tls(tls);
                registered.into_iter().fold(serving, SupervisorBuilder::webhook)
            })
            .await;
        let answering = Self { world, operators, certificate: cert.pem() };
        for webhook in &webhooks {
            answering.configure(webhook, json!({})).await;
        }
        answering
    }

    fn url(&self, webhook: &Webhook) -> String {
        let address = self.operators.running().webhooks().unwrap();
        format!("https://{address}/webhooks/{}", webhook.name())
    }

    /// Lets the API server call a webhook, with these fields changed.
    async fn configure(&self, webhook: &Webhook, changes: Value) {
        let mut entry = json!({
            "name": webhook.name(),
            "clientConfig": {"url": self.url(webhook), "caBundle": base64(&self.certificate)},
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                "operations": ["CREATE", "UPDATE", "DELETE"],
            }],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.world.namespace}},
            "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
        });
        for (name, value) in changes.as_object().unwrap() {
            entry[name] = value.clone();
        }
        let kind = match webhook.kind() {
            WebhookKind::Validating => VALIDATING,
            WebhookKind::Mutating => MUTATING,
        };
        let name = format!("{}.{}", webhook.name(), self.world.namespace);
        self.world.apply(kind, json!({"metadata": {"name": name}, "webhooks": [entry]})).await;
    }

    async fn stop(self) {
        for kind in [VALIDATING, MUTATING] {
            for configuration in self.world.list(kind).await {
                let name = configuration["metadata"]["name"].as_str().unwrap();
                if name.ends_with(&self.world.namespace) {
                    self.world.delete(kind, name).await;
                }
            }
        }
        self.operators.stop().await;
    }
}

/// A port of this machine that nobody listens on.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn base64(text: &str) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(text)
}
