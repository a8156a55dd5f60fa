//! What a program answers as webhooks, and where: the options, the bound port, and what lets the API server call.

use std::net::TcpListener;

use serde_json::Value;

use super::RunError;
use crate::{
    admission::Registered,
    manifests::{WebhookReach, configurations, conversion},
    operator::{admission::Webhook, conversion::Versions},
    web::{self, Certificates, Tls},
};

/// What a program answers, and where.
#[derive(Debug, Default)]
pub(super) struct WebhookOptions {
    pub(super) webhooks: Vec<Webhook>,
    pub(super) versions: Vec<Versions>,
    pub(super) address: Option<String>,
    pub(super) tls: Option<Tls>,
    pub(super) url: Option<String>,
    /// Whether the API server runs on this machine.
    pub(super) is_local: bool,
}

/// A bound port, and what is served there.
pub(super) struct BoundWebhooks {
    pub(super) listener: TcpListener,
    pub(super) registered: Registered,
    pub(super) certificates: Certificates,
    /// What lets the API server call them, to be applied before the operators start.
    pub(super) objects: Vec<Value>,
}

impl WebhookOptions {
    /// Checks all of it, and binds the port. In development the API server is on this machine.
    pub(super) fn prepare(
        self,
        program: &str,
        is_development: bool,
    ) -> Result<Option<BoundWebhooks>, RunError> {
        let Self { webhooks, versions, address, tls, url, is_local } = self;
        let registered = Registered::new(webhooks, versions)?;
        let Some(address) = address else {
            return if registered.is_empty() {
                Ok(None)
            } else {
                Err(RunError::WebhooksWithoutAddress)
            };
        };
        if registered.is_empty() {
            return Err(RunError::NoWebhooks);
        }
        let listener = web::listen(&address)?;
        let port = listener.local_addr()?.port();
        let url = url
            .or_else(|| (is_local || is_development).then(|| format!("https://localhost:{port}")));
        let (tls, objects) = match (tls, url) {
            (Some(tls), _) => (tls, Vec::new()),
            (None, Some(url)) => {
                let (tls, ca) = made(&url)?;
                (tls, objects(program, &registered, &WebhookReach::Url(url), &ca))
            }
            (None, None) => return Err(RunError::WebhooksWithoutTls),
        };
        let certificates = tls.load()?;
        Ok(Some(BoundWebhooks { listener, registered, certificates, objects }))
    }
}

/// The webhook configurations, and the conversions of CRDs, each with the fields of this program alone.
fn objects(program: &str, registered: &Registered, reach: &WebhookReach, ca: &str) -> Vec<Value> {
    let webhooks: Vec<&Webhook> = registered.admissions().collect();
    let conversions = registered.conversions().map(|versions| {
        serde_json::json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": versions.hub.resource_name()},
            "spec": {"conversion": conversion(versions, reach, Some(ca))},
        })
    });
    configurations(program, &webhooks, reach, Some(ca)).into_iter().chain(conversions).collect()
}

/// A certificate for the host of this address, and the authority that signed it.
#[cfg(feature = "certificates")]
fn made(url: &str) -> Result<(Tls, String), RunError> {
    use std::time::{Duration, SystemTime};

    use crate::recipes::{Authority, ServiceNames};

    const YEAR: Duration = Duration::from_hours(365 * 24);
    let now = SystemTime::now();
    let host = url.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
    let host = host.ok_or_else(|| RunError::WebhookUrl(url.to_owned()))?;
    let names = ServiceNames::of("localhost", "default").with("127.0.0.1").with(&host);
    let made = Authority::new("operetta-webhooks", 2 * YEAR, now)
        .and_then(|authority| Ok((authority.serving(None, &names, YEAR, now)?, authority)));
    let (serving, authority) =
        made.map_err(|error| RunError::WebhookCertificate(error.to_string()))?;
    let data = serving.secret_data();
    let part = |name: &str| data.get(name).map(|bytes| bytes.0.clone()).unwrap_or_default();
    Ok((Tls::from_pem(part("tls.crt"), part("tls.key")), authority.certificate().to_owned()))
}

#[cfg(not(feature = "certificates"))]
fn made(_: &str) -> Result<(Tls, String), RunError> {
    Err(RunError::WebhooksWithoutTls)
}
