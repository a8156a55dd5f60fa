//! The options of webhooks.

use std::net::TcpListener;

use serde_json::Value;

use super::SupervisorBuilder;
use crate::{
    admission::Registered,
    manifests::{WebhookReach, configurations, conversion},
    operator::{admission::Webhook, conversion::Versions},
    supervisor::RunError,
    web::{self, Certificates, Tls},
};

/// What a program answers, and where.
#[derive(Debug, Default)]
pub(super) struct WebhookOptions {
    webhooks: Vec<Webhook>,
    versions: Vec<Versions>,
    address: Option<String>,
    tls: Option<Tls>,
    url: Option<String>,
}

/// A bound port, and what is served there.
pub(in crate::supervisor) struct BoundWebhooks {
    pub(in crate::supervisor) listener: TcpListener,
    pub(in crate::supervisor) registered: Registered,
    pub(in crate::supervisor) certificates: Certificates,
    /// What lets the API server call them, to be applied before the operators start.
    pub(in crate::supervisor) objects: Vec<Value>,
}

impl SupervisorBuilder {
    /// Adds a handler that the API server asks before it stores an object.
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use operetta::{operator::admission::{Admission, AdmissionRequest, Webhook}, prelude::*, web::Tls};
    ///
    /// fn no_salt(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
    ///     Ok(Admission::allow())
    /// }
    ///
    /// let supervisor = Supervisor::builder()
    ///     .webhook(Webhook::validate("no-salt", no_salt))
    ///     .webhooks("0.0.0.0:9443")
    ///     .webhook_tls(Tls::from_files("tls.crt", "tls.key"));
    /// ```
    pub fn webhook(mut self, webhook: Webhook) -> Self {
        self.webhooks.webhooks.push(webhook);
        self
    }

    /// Adds the versions of a type, which the API server lets this process convert.
    pub fn versions(mut self, versions: impl Into<Versions>) -> Self {
        self.webhooks.versions.push(versions.into());
        self
    }

    /// Serves the webhooks on this address, for example `0.0.0.0:9443`, always over TLS. Every replica answers, also a
    /// standby.
    ///
    /// On an embedded API server nothing else is needed: the process makes a certificate, and lets the API server call it.
    /// Elsewhere see [`webhook_tls`](Self::webhook_tls).
    pub fn webhooks(mut self, address: &str) -> Self {
        self.webhooks.address = Some(address.to_owned());
        self
    }

    /// Sets the certificate of the webhooks. The API server checks it against the `caBundle` of the configuration, for the
    /// name `SERVICE.NAMESPACE.svc`. Who deploys the program applies the configurations.
    pub fn webhook_tls(mut self, tls: Tls) -> Self {
        self.webhooks.tls = Some(tls);
        self
    }

    /// Lets the API server call the webhooks at this address, such as `https://laptop.example:9443`, for a program that runs
    /// outside of its cluster. The process makes a certificate, and applies its configurations and the conversions of its
    /// CRDs as the field manager `operetta-webhooks`. It needs the feature `certificates`.
    pub fn webhook_url(mut self, url: &str) -> Self {
        self.webhooks.url = Some(url.to_owned());
        self
    }
}

impl WebhookOptions {
    /// Checks all of it, and binds the port. In development the API server is on this machine.
    pub(super) fn prepare(
        self,
        program: &str,
        is_development: bool,
    ) -> Result<Option<BoundWebhooks>, RunError> {
        let Self { webhooks, versions, address, tls, url } = self;
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
        let url = url.or_else(|| is_development.then(|| format!("https://localhost:{port}")));
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
    configurations(program, webhooks, reach, Some(ca)).into_iter().chain(conversions).collect()
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
