//! The credentials of server and clients, which are generated at the start.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

/// The names that the certificate is good for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The credentials of one run.
pub(super) struct Credentials {
    /// How connections are secured.
    pub(super) tls: ServerConfig,
    /// The certificate authority, as PEM.
    pub(super) authority: String,
    /// The bearer token of the administrator.
    pub(super) token: String,
}

/// Credentials could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The certificate.
    #[error("the certificate cannot be made")]
    Certificate(#[from] rcgen::Error),
    /// The TLS settings.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// The token.
    #[error("the operating system gives no random bytes: {0}")]
    Random(getrandom::Error),
}

impl Credentials {
    /// Makes new ones.
    pub(super) fn make() -> Result<Self, CredentialsError> {
        let authority = CertifiedIssuer::self_signed(authority_params(), KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(NAMES.map(str::to_owned))?;
        params.distinguished_name.push(DnType::CommonName, "operetta-apiserver");
        let certificate = params.signed_by(&key, &authority)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let tls = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        Ok(Self { tls, authority: authority.pem(), token: token()? })
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.distinguished_name.push(DnType::CommonName, "operetta-apiserver-ca");
    params
}

fn token() -> Result<String, CredentialsError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(CredentialsError::Random)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
