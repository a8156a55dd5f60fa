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

/// HTTP/2, as clients and the server agree on it.
pub(crate) const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

/// TLS with the certificate of the server; clients may have one too.
pub(super) fn server(
    secrets: &Secrets,
    clients: Verifier,
) -> Result<ServerConfig, CredentialsError> {
    let certificate = CertificateDer::from_pem_slice(secrets.server_certificate.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(secrets.server_key.as_bytes())?;
    let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(Arc::new(AnyCertificate(clients)))
        .with_single_cert(vec![certificate], key)?;
    config.alpn_protocols = [HTTP_2, HTTP_1].map(<[u8]>::to_vec).to_vec();
    Ok(config)
}
