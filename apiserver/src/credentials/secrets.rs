//! The secrets as texts: certificates and keys as PEM, and the administrator's token.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::CredentialsError;
use crate::persistence::{DataDirectoryError, Directory};

/// The names that the certificate is good for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// The file of a data directory with the secrets.
const FILE: &str = "credentials.json";

/// What is persisted.
#[derive(Serialize, Deserialize)]
pub(super) struct Secrets {
    pub(super) authority_certificate: String,
    pub(super) authority_key: String,
    pub(super) server_certificate: String,
    pub(super) server_key: String,
    pub(super) administrator_token: String,
    /// The key of the tokens of service accounts; empty where an earlier version wrote the file.
    #[serde(default)]
    pub(super) token_key: String,
}

impl Secrets {
    /// Those of a data directory, which gets them if it has none.
    pub(super) fn of(directory: &Directory) -> Result<Self, CredentialsError> {
        let secrets = match directory.read(FILE)? {
            None => Self::make()?,
            Some(text) => {
                let read = Self::read(&text).map_err(|why| Self::damaged(directory, why))?;
                if !read.token_key.is_empty() {
                    return Ok(read);
                }
                Self { token_key: KeyPair::generate()?.serialize_pem(), ..read }
            }
        };
        directory.write(FILE, &format!("{:#}\n", json!(secrets)))?;
        Ok(secrets)
    }

    /// New ones.
    pub(super) fn make() -> Result<Self, CredentialsError> {
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
            token_key: KeyPair::generate()?.serialize_pem(),
        })
    }

    /// That those of a data directory cannot be used.
    pub(super) fn damaged(directory: &Directory, why: String) -> DataDirectoryError {
        directory.damaged(FILE, why)
    }

    /// The error of the parser would quote the text, which is secret.
    fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| {
            format!("unexpected JSON in line {}, column {}", error.line(), error.column())
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
