//! The output of a plugin: credentials, or an error that does not quote the output.

use http::HeaderValue;
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use kube::config::ExecConfig;
use secrecy::SecretString;
use serde::Deserialize;

use super::super::user::pair;

/// What a plugin issued.
#[derive(Debug, Clone)]
pub(super) struct Credentials {
    pub(super) token: Option<SecretString>,
    /// A certificate and its key, in PEM.
    pub(super) identity: Option<(String, SecretString)>,
    pub(super) expires: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    kind: Option<String>,
    api_version: Option<String>,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<Time>,
}

/// The credentials in what a plugin printed.
pub(super) fn read(exec: &ExecConfig, printed: &[u8]) -> Result<Credentials, String> {
    let json = serde_json::from_slice(printed).ok();
    // Plugins may print YAML.
    let answer: Option<ExecCredential> = json.or_else(|| serde_yaml_ng::from_slice(printed).ok());
    let answer = answer.filter(|answer| answer.kind.as_deref() == Some("ExecCredential"));
    let answer = answer.ok_or("printed no ExecCredential")?;
    if answer.api_version != exec.api_version {
        let wanted = exec.api_version.as_deref().unwrap_or_default();
        return Err(format!("answered in another version than {wanted}"));
    }
    let status = answer.status.ok_or("printed no `status`")?;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let token = filled(status.token);
    if token.as_ref().is_some_and(|token| HeaderValue::from_str(token).is_err()) {
        return Err("printed a token with a character that no header can carry".to_owned());
    }
    let identity = match (filled(status.client_certificate_data), filled(status.client_key_data)) {
        (Some(certificate), Some(key)) => {
            pair(certificate.as_bytes(), key.as_bytes()).map_err(|why| format!("failed: {why}"))?;
            Some((certificate, key.into()))
        }
        (None, None) => None,
        _ => return Err("printed a certificate without its key, or a key alone".to_owned()),
    };
    if token.is_none() && identity.is_none() {
        return Err("printed no token and no certificate".to_owned());
    }
    let expires = status.expiration_timestamp.map(|Time(at)| at);
    Ok(Credentials { token: token.map(Into::into), identity, expires })
}
