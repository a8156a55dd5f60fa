//! What a program answers as webhooks, and where: the options, the bound port, and what lets the API server call.

use std::{
    collections::BTreeSet,
    net::{SocketAddr, TcpListener},
};

use actix_web::dev::ServerHandle;
use serde_json::Value;
use tokio::runtime::Handle;

use super::{
    RunError,
    certificates::{RotationSettings, SharedCertificates, shared},
    unserved::Answered,
};
use crate::{
    admission::Registered,
    manifests::{SERVICE_PORT, WebhookReach, configurations, conversion, webhook_service},
    object::K8sType,
    operator::{admission::Webhook, conversion::Versions},
    web::{self, ClientAuthority, Records, Tls, WebhookTls},
};

/// What a program answers, and where.
#[derive(Debug, Default)]
pub(super) struct WebhookOptions {
    pub(super) webhooks: Vec<Webhook>,
    pub(super) versions: Vec<Versions>,
    pub(super) address: Option<String>,
    pub(super) tls: Option<Tls>,
    pub(super) url: Option<String>,
    /// The name of the Service by which the API server calls them.
    pub(super) service: Option<String>,
    pub(super) rotation: RotationSettings,
    /// How the API server calls others that answer instead of this process.
    pub(super) elsewhere: Option<WebhookReach>,
    /// The authority of the only clients that are answered, in PEM.
    pub(super) client_ca: Option<Vec<u8>>,
    /// Whether the API server runs on this machine.
    pub(super) is_local: bool,
}

/// A bound port, and what is served there.
pub(super) struct BoundWebhooks {
    pub(super) listener: TcpListener,
    pub(super) registered: Registered,
    pub(super) tls: WebhookTls,
    /// What lets the API server call them, to be applied before the operators start.
    pub(super) objects: Vec<Value>,
    /// The certificates, if all replicas share them.
    pub(super) shared: Option<SharedCertificates>,
}

impl WebhookOptions {
    /// Whether nothing is answered.
    pub(super) fn is_empty(&self) -> bool {
        self.webhooks.is_empty() && self.versions.is_empty()
    }

    /// Leaves webhooks out. If nothing is left of some, nothing is served either, whatever says where.
    #[cfg(feature = "cli")]
    pub(super) fn retain(&mut self, is_kept: impl FnMut(&Webhook) -> bool) {
        let before = self.webhooks.len();
        self.webhooks.retain(is_kept);
        if self.webhooks.len() < before && self.is_empty() {
            (self.address, self.service, self.url) = (None, None, None);
        }
    }

    /// The types of which webhooks read all objects.
    pub(super) fn reads(&self) -> BTreeSet<K8sType> {
        let answering = self.webhooks.iter().filter(|_| self.elsewhere.is_none());
        answering.flat_map(|webhook| &webhook.reads).cloned().collect()
    }

    /// How the API server calls what converts, where CRDs that are installed have to say it. The namespace of a Service is
    /// empty if it is that of the process.
    pub(super) fn conversion(&self, program: &str) -> Option<WebhookReach> {
        let is_by_service = self.service.is_some() || (is_in_cluster() && self.url.is_none());
        let own = || WebhookReach::Service {
            namespace: String::new(),
            name: self.service.clone().unwrap_or_else(|| webhook_service(program)),
            port: SERVICE_PORT,
        };
        self.elsewhere.clone().or_else(|| is_by_service.then(own))
    }

    /// Checks all of it, and binds the port. In development the API server is on this machine.
    pub(super) fn prepare(
        self,
        program: &str,
        is_development: bool,
    ) -> Result<Option<BoundWebhooks>, RunError> {
        let Self { webhooks, versions, address, tls, url, service, .. } = self;
        let Self { rotation, client_ca, is_local, elsewhere, .. } = self;
        let registered = Registered::new(webhooks, versions)?;
        if elsewhere.is_some() {
            return Ok(None);
        }
        let Some(address) = address else {
            return match (registered.is_empty(), url.is_none() && service.is_none()) {
                (true, true) => Ok(None),
                (true, false) => Err(RunError::NoWebhooks),
                (false, _) => Err(RunError::WebhooksWithoutAddress),
            };
        };
        if registered.is_empty() {
            return Err(RunError::NoWebhooks);
        }
        let is_local = (is_local || is_development) && service.is_none();
        let listener = web::listen(&if is_local { private(address) } else { address })?;
        let port = listener.local_addr()?.port();
        let url = url.or_else(|| is_local.then(|| format!("https://localhost:{port}")));
        let (certificates, objects, shared) = match (tls, url) {
            (Some(tls), _) => (tls.load()?, Vec::new(), None),
            (None, Some(url)) => {
                let (tls, ca) = made(&url)?;
                let objects = objects(program, &registered, &WebhookReach::Url(url), &ca);
                (tls.load()?, objects, None)
            }
            (None, None) if service.is_some() || is_in_cluster() => {
                let shared = shared(program, service, &registered, rotation);
                let shared = shared.ok_or(RunError::WebhooksWithoutTls)?;
                (shared.certificates(), Vec::new(), Some(shared))
            }
            (None, None) => return Err(RunError::WebhooksWithoutTls),
        };
        let clients = client_ca.map(|pem| ClientAuthority::from_pem(&pem)).transpose()?;
        let tls = WebhookTls { certificates, clients };
        Ok(Some(BoundWebhooks { listener, registered, tls, objects, shared }))
    }
}

/// Only the API server of this machine calls: a free port of loopback, unless the address is a certain one.
fn private(address: String) -> String {
    let is_any = |address: &SocketAddr| address.ip().is_unspecified();
    let any = address.parse().ok().filter(is_any);
    any.map_or(address, |_| "127.0.0.1:0".to_owned())
}

/// What lets the API server call the webhooks: objects to be applied, or certificates.
#[derive(Debug, Default)]
pub(super) struct Called {
    pub(super) objects: Vec<Value>,
    pub(super) shared: Option<SharedCertificates>,
    /// What it is asked about.
    pub(super) answered: Answered,
}

impl BoundWebhooks {
    /// Serves them from now on.
    pub(super) fn start(
        self,
        records: Records,
        runtime: &Handle,
    ) -> Result<(ServerHandle, Called), RunError> {
        let Self { listener, registered, tls, objects, shared } = self;
        let answered = Answered::of(&registered);
        let server = web::webhook_server(listener, registered, tls, records, runtime.clone())?;
        let handle = server.handle();
        actix::spawn(server);
        Ok((handle, Called { objects, shared, answered }))
    }
}

/// Whether the process runs in a Pod, so that a Service of its cluster can reach it.
fn is_in_cluster() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some_and(|host| !host.is_empty())
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

#[cfg(all(test, feature = "certificates"))]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::operator::admission::{Admission, AdmissionRequest};

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    fn allow(_: &AdmissionRequest) -> anyhow::Result<Admission> {
        Ok(Admission::allow())
    }

    fn options() -> WebhookOptions {
        let pods = crate::object::K8sType::namespaced("v1", "Pod", "pods");
        WebhookOptions {
            webhooks: vec![Webhook::validate_type("open", pods, allow)],
            address: Some("127.0.0.1:0".to_owned()),
            ..WebhookOptions::default()
        }
    }

    #[test]
    fn a_named_service_has_certificates_that_replicas_share_also_in_development() {
        let service = WebhookOptions { service: Some("shop".to_owned()), ..options() };
        let bound = service.prepare("shop", true).unwrap().unwrap();
        assert!(bound.shared.is_some() && bound.objects.is_empty());
        let bound = options().prepare("shop", true).unwrap().unwrap();
        assert!(bound.shared.is_none() && !bound.objects.is_empty());
    }

    #[test]
    fn in_development_only_this_machine_reaches_the_port() {
        for (address, expected) in [("0.0.0.0:9443", "127.0.0.1"), ("[::1]:0", "::1")] {
            let options = WebhookOptions { address: Some(address.to_owned()), ..options() };
            let bound = options.prepare("shop", true).unwrap().unwrap();
            let listening = bound.listener.local_addr().unwrap();
            assert_eq!(listening.ip().to_string(), expected);
            assert_ne!(listening.port(), 9443, "several programs may be tried at once");
        }
    }

    #[test]
    fn where_others_answer_nothing_is_served_and_read_and_crds_name_them() {
        let service = WebhookReach::Service {
            namespace: "market".to_owned(),
            name: "shop-webhooks".to_owned(),
            port: SERVICE_PORT,
        };
        let mut options = WebhookOptions { elsewhere: Some(service.clone()), ..options() };
        options.webhooks = options.webhooks.into_iter().map(Webhook::reads::<Pod>).collect();
        assert_eq!(options.conversion("shop"), Some(service));
        assert!(options.reads().is_empty());
        assert!(options.prepare("shop", false).unwrap().is_none());
    }
}
