//! Why a call failed, in the words of the HTTP client of Go.

use std::io;

use rustls::CertificateError;

use super::Target;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// No answer came.
    #[error("Post \"{url}\": {why}")]
    Unanswered {
        /// What was called.
        url: String,
        /// What happened.
        why: String,
    },
    /// The answer is a refusal.
    #[error("{0}")]
    Refused(String),
}

impl Failure {
    /// No connection came about.
    pub(super) fn dial(address: &str, error: &io::Error) -> String {
        let why = match error.kind() {
            io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
            io::ErrorKind::ConnectionReset => "connection reset by peer".to_owned(),
            io::ErrorKind::TimedOut => "connection timed out".to_owned(),
            _ => error.to_string(),
        };
        format!("dial tcp {address}: connect: {why}")
    }

    /// The other side is not whom it should be, or speaks no TLS.
    pub(super) fn handshake(target: &Target, error: &io::Error) -> String {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match inner {
            Some(rustls::Error::InvalidCertificate(wrong)) => {
                format!("tls: failed to verify certificate: x509: {}", certificate(target, wrong))
            }
            Some(rustls::Error::InvalidMessage(_)) => {
                "http: server gave HTTP response to HTTPS client".to_owned()
            }
            Some(other) => format!("tls: {other}"),
            None if error.kind() == io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            None => error.to_string(),
        }
    }

    /// What the client of Go makes of a code other than 200.
    pub(super) fn refused(code: u16, is_text: bool, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = if is_text { text.trim() } else { "unknown" };
        Self::Refused(match code {
            400 => "the server rejected our request for an unknown reason".to_owned(),
            401 => "the server has asked for the client to provide credentials".to_owned(),
            403 | 406 | 415 => text.to_owned(),
            404 => "the server could not find the requested resource".to_owned(),
            405 => "the server does not allow this method on the requested resource".to_owned(),
            409 => "the server reported a conflict".to_owned(),
            422 => "the server rejected our request due to an error in our request".to_owned(),
            429 => "the server has received too many requests and has asked us to try again later"
                .to_owned(),
            503 => "the server is currently unable to handle the request".to_owned(),
            504 => "the server was unable to return a response in the time allotted, but may still be processing the request".to_owned(),
            500.. => {
                format!("an error on the server ({text:?}) has prevented the request from succeeding")
            }
            _ => format!("the server responded with the status code {code} but did not return more information"),
        })
    }
}

fn certificate(target: &Target, wrong: &CertificateError) -> String {
    match wrong {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::NotValidForName => {
            format!("certificate is not valid for any names, but wanted to match {}", target.name)
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<String> = presented.iter().map(|name| bare(name)).collect();
            if names.is_empty() {
                let name = &target.name;
                return format!(
                    "certificate is not valid for any names, but wanted to match {name}"
                );
            }
            format!("certificate is valid for {}, not {}", names.join(", "), target.name)
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        other => other.to_string(),
    }
}

/// `DnsName("a.b")` and `IpAddress(127.0.0.1)` without their kind.
fn bare(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner.trim_end_matches(')'));
    inner.trim_matches('"').to_owned()
}
