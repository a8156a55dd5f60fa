//! The credentials of server and clients: generated at the start, and again only without a data directory.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::persistence::{DataDirectoryError, Directory};

/// The names that the certificate is good for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The file of a data directory with the credentials.
const FILE: &str = "credentials.json";

/// The credentials of one run.
pub(super) struct Credentials {
    /// How connections are secured.
    pub(super) tls: ServerConfig,
    /// The certificate authority, as PEM.
    pub(super) authority: String,
    /// Its key, as PEM.
    pub(super) authority_key: String,
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
    /// A certificate or key that cannot be read.
    #[error("a certificate or key cannot be read: {0}")]
    Pem(#[from] pem::Error),
    /// The data directory.
    #[error(transparent)]
    DataDirectory(#[from] DataDirectoryError),
    /// The token.
    #[error("the operating system gives no random bytes: {0}")]
    Random(getrandom::Error),
}

/// What is persisted: PEM texts and the token.
#[derive(Serialize, Deserialize)]
struct Secrets {
    authority_certificate: String,
    authority_key: String,
    server_certificate: String,
    server_key: String,
    administrator_token: String,
}

impl Credentials {
    /// Those of the data directory, or new ones.
    pub(super) fn obtain(directory: Option<&Directory>) -> Result<Self, CredentialsError> {
        let secrets = match directory {
            Some(directory) => Secrets::of(directory)?,
            None => Secrets::make()?,
        };
        secrets.credentials().map_err(|error| match directory {
            Some(directory) => directory.damaged(FILE, error.to_string()).into(),
            None => error,
        })
    }
}

impl Secrets {
    fn of(directory: &Directory) -> Result<Self, CredentialsError> {
        if let Some(text) = directory.read(FILE)? {
            // The error would quote the text, which is secret.
            let read = serde_json::from_str(&text).map_err(|error| (error.line(), error.column()));
            let at = |(line, column)| format!("unexpected JSON in line {line}, column {column}");
            return Ok(read.map_err(|error| directory.damaged(FILE, at(error)))?);
        }
        let secrets = Self::make()?;
        directory.write(FILE, &format!("{:#}\n", json!(secrets)))?;
        Ok(secrets)
    }

    fn make() -> Result<Self, CredentialsError> {
        let authority = CertifiedIssuer::self_signed(authority_params(), KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(NAMES.map(str::to_owned))?;
        params.distinguished_name.push(DnType::CommonName, "operetta-apiserver");
        let certificate = params.signed_by(&key, &authority)?;
        Ok(Self {
            authority_certificate: authority.pem(),
            authority_key: authority.key().serialize_pem(),
            server_certificate: certificate.pem(),
            server_key: key.serialize_pem(),
            administrator_token: token()?,
        })
    }

    fn credentials(self) -> Result<Credentials, CredentialsError> {
        let certificate = CertificateDer::from_pem_slice(self.server_certificate.as_bytes())?;
        let key = PrivateKeyDer::from_pem_slice(self.server_key.as_bytes())?;
        let tls = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)?;
        Ok(Credentials {
            tls,
            authority: self.authority_certificate,
            authority_key: self.authority_key,
            token: self.administrator_token,
        })
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
