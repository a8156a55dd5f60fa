//! The options of webhooks.

use std::net::TcpListener;

use super::SupervisorBuilder;
use crate::{
    admission::Registered,
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
}

/// A bound port, and what is served there.
pub(in crate::supervisor) struct BoundWebhooks {
    pub(in crate::supervisor) listener: TcpListener,
    pub(in crate::supervisor) registered: Registered,
    pub(in crate::supervisor) certificates: Certificates,
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
    pub fn webhooks(mut self, address: &str) -> Self {
        self.webhooks.address = Some(address.to_owned());
        self
    }

    /// Sets the certificate of the webhooks. The API server checks it against the `caBundle` of the configuration, for the
    /// name `SERVICE.NAMESPACE.svc`.
    pub fn webhook_tls(mut self, tls: Tls) -> Self {
        self.webhooks.tls = Some(tls);
        self
    }
}

impl WebhookOptions {
    /// Checks all of it, and binds the port.
    pub(super) fn prepare(self) -> Result<Option<BoundWebhooks>, RunError> {
        let Self { webhooks, versions, address, tls } = self;
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
        let certificates = tls.ok_or(RunError::WebhooksWithoutTls)?.load()?;
        let listener = web::listen(&address)?;
        Ok(Some(BoundWebhooks { listener, registered, certificates }))
    }
}
