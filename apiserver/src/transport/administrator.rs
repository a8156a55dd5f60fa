//! The certificate of the administrator, beside the token: some clients read only one of them.
//!
//! With a data directory it is that of the last time while it is valid, so that a kubeconfig stays the same.

use base64::{Engine, prelude::BASE64_STANDARD};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    certificates::{self, ClientCertificate},
    cluster::Cluster,
    credentials::CredentialsError,
    persistence::Directory,
    users::User,
};

/// The file of a data directory with the certificate.
const FILE: &str = "administrator.json";

#[derive(Serialize, Deserialize)]
struct Kept {
    certificate: String,
    key: String,
}

/// The administrator, as a kubeconfig has them.
pub(super) fn user(
    cluster: &Cluster,
    token: &str,
    directory: Option<&Directory>,
) -> Result<Value, CredentialsError> {
    let kept = if let Some(kept) = directory.and_then(|directory| last(cluster, directory)) {
        kept
    } else {
        let kept = made(cluster, &User::admin())?;
        if let Some(directory) = directory {
            directory.write(FILE, &format!("{:#}\n", json!(kept)))?;
        }
        kept
    };
    let mut user = shown(&kept);
    user["token"] = json!(token);
    Ok(user)
}

/// A user with a new certificate, as a kubeconfig has them.
pub(super) fn certified(cluster: &Cluster, user: &User) -> Result<Value, CredentialsError> {
    made(cluster, user).map(|made| shown(&made))
}

fn made(cluster: &Cluster, user: &User) -> Result<Kept, CredentialsError> {
    let credentials = cluster.keychain.credentials()?;
    let ClientCertificate { certificate, key } =
        certificates::client_certificate(&credentials, user, cluster.clock.now())?;
    Ok(Kept { certificate, key })
}

fn shown(Kept { certificate, key }: &Kept) -> Value {
    json!({
        "client-certificate-data": BASE64_STANDARD.encode(certificate),
        "client-key-data": BASE64_STANDARD.encode(key),
    })
}

/// That of the last time; whatever cannot be read or is not valid is replaced.
fn last(cluster: &Cluster, directory: &Directory) -> Option<Kept> {
    let kept: Kept = serde_json::from_str(&directory.read(FILE).ok().flatten()?).ok()?;
    let certificate = CertificateDer::from_pem_slice(kept.certificate.as_bytes()).ok()?;
    let credentials = cluster.keychain.credentials().ok()?;
    credentials.check_client(&[certificate], cluster.clock.now()).ok()?;
    Some(kept)
}
