//! An authority that signs the certificates of Services.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use k8s_openapi::jiff::{Timestamp, civil::date, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyUsagePurpose,
};

use super::{
    CertificateError, ServiceNames, TlsData,
    pair::{self, Pair},
    serving::ServingCertificate,
};

/// An authority: its certificate, and its key. `Debug` shows its name, and no key.
///
/// Keep it in a Secret of its own, which nothing mounts: its key signs for any name. Clients trust its certificate,
/// `ca.crt` in the Secret of the Service. When it is replaced they must read that again, so it has a long life.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operetta::{prelude::*, recipes::{Authority, ServiceNames, TlsData}};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// const DAY: Duration = Duration::from_secs(24 * 3600);
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let now = request.now();
///     let (name, namespace) = (request.parent.name(), request.parent.namespace().unwrap_or_default());
///     let [ca, tls] = [format!("{name}-ca"), format!("{name}-tls")];
///     let existing = |name: &str| -> Result<Option<&TlsData>> {
///         Ok(request.child::<Secret>(name)?.and_then(|secret| secret.data.as_ref()))
///     };
///     let authority = Authority::kept_or_new(existing(&ca)?, &ca, 3650 * DAY, now)?;
///     let names = ServiceNames::of(name, namespace);
///     let serving = authority.serving(existing(&tls)?, &names, 90 * DAY, now)?;
///     Ok(SyncResponse::new()
///         .child(secret(&ca, authority.secret_data()))
///         .child(secret(&tls, serving.secret_data()))
///         .resync_after(serving.wait(now).min(authority.wait(now))))
/// }
///
/// fn secret(name: &str, data: TlsData) -> Value {
///     json!({
///         "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
///         "metadata": {"name": name}, "data": data,
///     })
/// }
/// # let ty = K8sType::namespaced("example.dev/v1", "Website", "websites");
/// # let response = sync(&SyncRequest::example(&ty, json!({"metadata": {"name": "a"}}))?)?;
/// # assert_eq!(response.children.len(), 2);
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
pub struct Authority {
    name: String,
    pair: Pair,
}

impl Authority {
    /// The authority of a Secret, or a new one if there is none or two thirds of its life are over. The name is
    /// that of the issuer in certificates; an authority keeps its name.
    ///
    /// # Errors
    /// The Secret cannot be read. It is not replaced: others may have made it.
    pub fn kept_or_new(
        existing: Option<&TlsData>,
        name: &str,
        life: Duration,
        now: SystemTime,
    ) -> Result<Self, CertificateError> {
        match existing.map(Pair::of_secret).transpose()? {
            Some(pair) if !pair.is_due(now) => Ok(Self { name: name.to_owned(), pair }),
            Some(_) | None => Self::new(name, life, now),
        }
    }

    /// A new authority.
    ///
    /// # Errors
    /// Its life is too short, or there is no randomness.
    pub fn new(name: &str, life: Duration, now: SystemTime) -> Result<Self, CertificateError> {
        let validity = pair::validity(now, life, end_of_time())?;
        let pair =
            Pair::made(validity, params(name), |params, key| Ok(params.self_signed(key)?.pem()))?;
        Ok(Self { name: name.to_owned(), pair })
    }

    /// The certificate in the Secret of a Service, or a new one if there is none that is signed by this authority
    /// and has all the names, or two thirds of its life are over. It ends with the authority at the latest.
    ///
    /// # Errors
    /// A name is none, the life is too short, or key and certificate of the authority do not belong together.
    pub fn serving(
        &self,
        existing: Option<&TlsData>,
        names: &ServiceNames,
        life: Duration,
        now: SystemTime,
    ) -> Result<ServingCertificate, CertificateError> {
        let existing = existing.and_then(|data| Pair::of_secret(data).ok());
        let der = self.pair.der()?;
        if let Some(pair) = existing.filter(|pair| !pair.is_due(now)) {
            let kept = ServingCertificate::new(pair, self.certificate());
            if kept.verify(der.clone(), names, now).is_ok() {
                return Ok(kept);
            }
        }
        let validity = pair::validity(now, life, self.pair.validity.end)?;
        let issuer = Issuer::new(params(&self.name), self.pair.key_pair()?);
        let params = ServingCertificate::params(names)?;
        let pair =
            Pair::made(validity, params, |params, key| Ok(params.signed_by(key, &issuer)?.pem()))?;
        let made = ServingCertificate::new(pair, self.certificate());
        made.verify(der, names, now)?;
        Ok(made)
    }

    /// An authority that was kept elsewhere.
    pub(super) fn of_pair(name: &str, pair: Pair) -> Self {
        Self { name: name.to_owned(), pair }
    }

    pub(super) fn pair(&self) -> &Pair {
        &self.pair
    }

    /// Its certificate in PEM, which clients trust.
    pub fn certificate(&self) -> &str {
        &self.pair.certificate
    }

    /// The data of its Secret, with its key.
    pub fn secret_data(&self) -> TlsData {
        self.pair.secret_data(self.certificate())
    }

    /// How long it is until it is to be renewed; zero if it is due.
    pub fn wait(&self, now: SystemTime) -> Duration {
        self.pair.wait(now)
    }
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// The last second that a certificate can name.
fn end_of_time() -> Timestamp {
    let last = date(9999, 12, 30).to_zoned(TimeZone::UTC);
    last.map_or(Timestamp::MAX, |last| last.timestamp())
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authority({} until {})", self.name, self.pair.validity.end)
    }
}
