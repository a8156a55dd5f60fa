//! Which clients are answered: those with a certificate of an authority.

use std::{fmt, sync::Arc};

use rustls::{
    Error, RootCertStore,
    crypto::ring as provider,
    pki_types::{CertificateDer, pem::PemObject},
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};

use super::error::TlsError;

/// The authority whose clients are answered, and no others. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ClientAuthority(Arc<dyn ClientCertVerifier>);

impl ClientAuthority {
    /// From one or several certificates in PEM.
    pub(crate) fn from_pem(pem: &[u8]) -> Result<Self, TlsError> {
        let none = || TlsError::NoCertificate("the authority of the clients".to_owned());
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            roots.add(certificate.map_err(|_| none())?).map_err(TlsError::Unusable)?;
        }
        if roots.is_empty() {
            return Err(none());
        }
        let provider = provider::default_provider().into();
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
        let unusable = |error| TlsError::Unusable(Error::General(format!("{error}")));
        Ok(Self(verifier.map_err(unusable)?))
    }

    pub(super) fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        self.0.clone()
    }
}

impl fmt::Debug for ClientAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientAuthority")
    }
}
