//! How connections are secured.

use std::sync::Arc;

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::{
    CredentialsError,
    clients::{AnyCertificate, Verifier},
    secrets::Secrets,
};

/// TLS with the certificate of the server; clients may have one too.
pub(super) fn server(
    secrets: &Secrets,
    clients: Verifier,
) -> Result<ServerConfig, CredentialsError> {
    let certificate = CertificateDer::from_pem_slice(secrets.server_certificate.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(secrets.server_key.as_bytes())?;
    Ok(ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(Arc::new(AnyCertificate(clients)))
        .with_single_cert(vec![certificate], key)?)
}
