//! The certificate with which a Service is served.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyUsagePurpose,
};
use rustls::{
    RootCertStore,
    client::{verify_server_cert_signed_by_trust_anchor, verify_server_name},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use super::{CertificateError, ServiceNames, TlsData, pair::Pair};

/// A certificate of a Service and its key, made by [`Authority::serving`](super::Authority::serving). `Debug`
/// shows no key.
pub struct ServingCertificate {
    pair: Pair,
    authority: String,
}

impl ServingCertificate {
    /// The data of a Secret of the type `kubernetes.io/tls`, with the key.
    pub fn secret_data(&self) -> TlsData {
        self.pair.secret_data(&self.authority)
    }

    /// How long it is until it is to be renewed, at two thirds of its life; zero if it is due.
    pub fn wait(&self, now: SystemTime) -> Duration {
        self.pair.wait(now)
    }

    pub(super) fn new(pair: Pair, authority: &str) -> Self {
        Self { pair, authority: authority.to_owned() }
    }

    pub(super) fn pair(&self) -> &Pair {
        &self.pair
    }

    pub(super) fn params(names: &ServiceNames) -> Result<CertificateParams, CertificateError> {
        let mut params = CertificateParams::new(names.names())?;
        params.distinguished_name = DistinguishedName::new();
        if let Some(name) = names.names().first() {
            params.distinguished_name.push(DnType::CommonName, &**name);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        Ok(params)
    }

    /// Whether clients that trust the authority accept it for all the names.
    pub(super) fn verify(
        &self,
        authority: CertificateDer<'_>,
        names: &ServiceNames,
        now: SystemTime,
    ) -> Result<(), CertificateError> {
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let der = self.pair.der()?;
        let mismatched = |_| CertificateError::Mismatched;
        let parsed = ParsedCertificate::try_from(&der).map_err(mismatched)?;
        let mut roots = RootCertStore::empty();
        roots.add(authority).map_err(mismatched)?;
        verify_server_cert_signed_by_trust_anchor(
            &parsed,
            &roots,
            &[],
            UnixTime::since_unix_epoch(since),
            ring::default_provider().signature_verification_algorithms.all,
        )
        .map_err(mismatched)?;
        names.names().iter().try_for_each(|name| has_name(&parsed, name))
    }
}

fn has_name(certificate: &ParsedCertificate<'_>, name: &str) -> Result<(), CertificateError> {
    let invalid = || CertificateError::InvalidName(name.to_owned());
    // One of the hosts that a name with an asterisk stands for.
    let host = name.strip_prefix('*').map_or_else(|| name.to_owned(), |rest| format!("any{rest}"));
    let server = ServerName::try_from(host).map_err(|_| invalid())?;
    verify_server_name(certificate, &server).map_err(|_| invalid())
}

impl fmt::Debug for ServingCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServingCertificate(until {})", self.pair.validity.end)
    }
}
