//! What the Secret holds, read part by part: one that is damaged leaves the others in use.

use k8s_openapi::{ByteString, jiff::Timestamp};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use secrecy::SecretString;

use crate::recipes::certificates::{
    Authority, ServingCertificate, TlsData, pair::Pair, validity::Validity,
};

/// The issuer in certificates; an authority keeps its name.
pub(super) const AUTHORITY: &str = "operetta-webhooks";

/// The parts of a Secret that can be used.
#[derive(Default)]
pub(super) struct Content {
    /// It signs, and is one of `trusted`.
    pub(super) authority: Option<Authority>,
    pub(super) trusted: Vec<Trusted>,
    pub(super) serving: Option<ServingCertificate>,
    pub(super) damages: Vec<Damage>,
}

/// The certificate of an authority.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Trusted {
    pub(super) pem: String,
    pub(super) der: CertificateDer<'static>,
    pub(super) end: Timestamp,
}

/// What cannot be used. No key is quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{0}` is not readable as PEM")]
    Unreadable(&'static str),
    #[error("`{key}` is not the key of `{certificate}`")]
    Mismatched { key: &'static str, certificate: &'static str },
}

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// When the serving certificate of a Secret expires, and the authority that signs.
pub(crate) fn expiry(data: &TlsData) -> Option<(Timestamp, Timestamp)> {
    let content = Content::of(data);
    let authority = content.authority?.pair().validity.end;
    Some((content.serving?.pair().validity.end, authority))
}

impl Content {
    pub(super) fn of(data: &TlsData) -> Self {
        let mut content = Self::default();
        content.trusted = content.part(trusted(data)).unwrap_or_default();
        content.authority = content.part(authority(data, &content.trusted));
        content.serving = content.part(serving(data));
        content
    }

    /// Notes why there is none.
    fn part<T>(&mut self, part: Result<T, Damage>) -> Option<T> {
        part.map_err(|damage| self.damages.push(damage)).ok()
    }

    /// The data of the Secret.
    pub(super) fn data(&self) -> TlsData {
        let bundle: String = self.trusted.iter().map(|it| it.pem.as_str()).collect();
        let mut data =
            self.serving.as_ref().map(ServingCertificate::secret_data).unwrap_or_default();
        data.insert("ca.crt".to_owned(), ByteString(bundle.into_bytes()));
        let authority = self.authority.as_ref().map(Authority::secret_data);
        if let Some(key) = authority.and_then(|mut of_it| of_it.remove("tls.key")) {
            data.insert("ca.key".to_owned(), key);
        }
        data
    }
}

impl Trusted {
    pub(super) fn of_pem(pem: &str) -> Option<Self> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
        let end = Validity::of_der(&der)?.end;
        Some(Self { pem: format!("{}\n", pem.trim()), der, end })
    }
}

fn trusted(data: &TlsData) -> Result<Vec<Trusted>, Damage> {
    let text = text(data, "ca.crt")?;
    let all = text.split_inclusive(END).filter_map(|part| part.find(BEGIN).map(|at| &part[at..]));
    let read: Option<Vec<Trusted>> = all.map(Trusted::of_pem).collect();
    read.filter(|read| !read.is_empty()).ok_or(Damage::Unreadable("ca.crt"))
}

/// The one of which the key is there.
fn authority(data: &TlsData, trusted: &[Trusted]) -> Result<Authority, Damage> {
    let key = text(data, "ca.key")?;
    let pairs = trusted.iter().filter_map(|it| pair(&it.pem, &key));
    let pair = pairs.into_iter().find(Pair::is_matching);
    let pair = pair.ok_or(Damage::Mismatched { key: "ca.key", certificate: "ca.crt" })?;
    pair.key_pair().map_err(|_| Damage::Unreadable("ca.key"))?;
    Ok(Authority::of_pair(AUTHORITY, pair))
}

fn serving(data: &TlsData) -> Result<ServingCertificate, Damage> {
    let (certificate, key) = (text(data, "tls.crt")?, text(data, "tls.key")?);
    let pair = pair(&certificate, &key).ok_or(Damage::Unreadable("tls.crt"))?;
    pair.key_pair().map_err(|_| Damage::Unreadable("tls.key"))?;
    let mismatched = Damage::Mismatched { key: "tls.key", certificate: "tls.crt" };
    // Clients get the authorities from `ca.crt` of the whole, not from this.
    let made = pair.is_matching().then(|| ServingCertificate::new(pair, ""));
    made.ok_or(mismatched)
}

fn pair(certificate: &str, key: &str) -> Option<Pair> {
    let der = CertificateDer::from_pem_slice(certificate.as_bytes()).ok()?;
    let validity = Validity::of_der(&der)?;
    Some(Pair { certificate: certificate.to_owned(), key: SecretString::from(key), validity })
}

fn text(data: &TlsData, name: &'static str) -> Result<String, Damage> {
    let bytes = data.get(name).filter(|bytes| !bytes.0.is_empty()).ok_or(Damage::Missing(name))?;
    String::from_utf8(bytes.0.clone()).map_err(|_| Damage::Unreadable(name))
}
