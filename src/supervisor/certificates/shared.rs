//! What is known of the certificates before there is a connection.

use std::time::Duration;

use crate::{
    admission::Registered,
    manifests::{Caller, callers, webhook_secret, webhook_service},
    operator::admission::Webhook,
    recipes::Lifetimes,
    web::Certificates,
};

/// How certificates are renewed. Tests have their own.
#[derive(Debug, Clone)]
pub(crate) struct RotationSettings {
    pub(super) lifetimes: Lifetimes,
    /// How often all is looked at, whatever changes.
    pub(super) look_every: Duration,
    /// Names beside those of the Service.
    pub(super) names: Vec<String>,
}

impl Default for RotationSettings {
    fn default() -> Self {
        let look_every = Duration::from_mins(1);
        Self { lifetimes: Lifetimes::default(), look_every, names: Vec::new() }
    }
}

impl RotationSettings {
    /// With certificates that live for so short a time, and these names.
    #[cfg(feature = "testkit")]
    pub(crate) fn short([authority, serving, overlap]: [Duration; 3], names: &[&str]) -> Self {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let lifetimes = Lifetimes { authority, serving, overlap };
        Self { lifetimes, look_every: Duration::from_secs(1), names }
    }
}

/// The certificates of the webhooks of a program.
#[derive(Debug)]
pub(crate) struct SharedCertificates {
    /// The name of the Secret.
    pub(super) secret: String,
    /// The name of the Service.
    pub(super) service: String,
    pub(super) callers: Vec<Caller>,
    pub(super) certificates: Certificates,
    pub(super) settings: RotationSettings,
}

/// Those of the webhooks of a program, called by this Service or by the usual one.
#[expect(clippy::unnecessary_wraps, reason = "none without the feature `certificates`")]
pub(crate) fn shared(
    program: &str,
    service: Option<String>,
    registered: &Registered,
    settings: RotationSettings,
) -> Option<SharedCertificates> {
    let webhooks: Vec<&Webhook> = registered.admissions().collect();
    let secret = webhook_secret(program);
    Some(SharedCertificates {
        certificates: Certificates::replaced_by(&format!("the Secret {secret}")),
        service: service.unwrap_or_else(|| webhook_service(program)),
        callers: callers(program, &webhooks, registered.conversions()),
        secret,
        settings,
    })
}

impl SharedCertificates {
    /// What is served with them, from the first one on.
    pub(crate) fn certificates(&self) -> Certificates {
        self.certificates.clone()
    }
}
