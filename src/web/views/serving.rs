//! The JSON form of the configuration of the endpoint: access, TLS and limits. It contains names of
//! files, never their contents.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::web::{
    access::Access,
    body::MAX_BODY,
    logins,
    request_rules::{Hosts, Limits, MAX_HEADERS, MAX_URI, RequestRules},
    session_limits::{FAILURES, LIMITS, SessionLimits},
    tls::Certificates,
};

/// The configuration of the web endpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Serving")]
pub(in crate::web) struct ServingView {
    /// The address and port that it listens on.
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<String>,
    /// Whether only names of the loopback are accepted.
    loopback_names_only: bool,
    access: AccessView,
    /// Absent in clear text.
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<TlsView>,
    /// The host of a proxy that terminates TLS, if configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_proxy: Option<String>,
    limits: WebLimitsView,
}

/// Who has access.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Access")]
struct AccessView {
    /// `none`: everybody who reaches it. `delegated`: the Kubernetes API server reviews access.
    mode: &'static str,
    /// The accepted audiences of a token; absent for that of the API server.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    audiences: Vec<String>,
    /// The sessions of browsers; absent without logins.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<SessionsView>,
}

/// The limits of the sessions of browsers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Sessions")]
struct SessionsView {
    max: usize,
    max_per_user: usize,
    life_seconds: f64,
    idle_seconds: f64,
    /// How many logins may fail in a minute from one address.
    max_failures: u32,
}

/// The certificate.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Tls")]
struct TlsView {
    /// The file of the certificate; absent if it does not come from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_file: Option<String>,
    /// The file of its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_file: Option<String>,
    /// How often they are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    check_seconds: Option<f64>,
}

/// The limits for clients.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WebLimits")]
struct WebLimitsView {
    connections: usize,
    /// The limit for one client.
    connections_per_peer: usize,
    /// Further connections, only for probes.
    connections_for_probes: usize,
    path_and_query_bytes: usize,
    header_bytes: usize,
    body_bytes: usize,
    header_seconds: f64,
    body_seconds: f64,
    /// When a connection without requests is closed.
    idle_seconds: f64,
    /// When a connection is closed whose client acknowledges no data.
    stalled_seconds: f64,
}

impl ServingView {
    pub(in crate::web) fn new(rules: &RequestRules, certificates: Option<&Certificates>) -> Self {
        Self {
            listen: rules.address.map(|address| address.to_string()),
            loopback_names_only: rules.hosts == Hosts::Loopback,
            access: AccessView::new(rules.access.as_ref()),
            tls: certificates.map(TlsView::from),
            tls_proxy: rules.proxy.as_ref().map(|proxy| proxy.host().to_owned()),
            limits: rules.limits.into(),
        }
    }
}

impl AccessView {
    fn new(access: Option<&Access>) -> Self {
        let Some(access) = access else {
            return Self { mode: "none", audiences: Vec::new(), sessions: None };
        };
        let sessions = logins::ARE_POSSIBLE.then(|| LIMITS.into());
        Self { mode: "delegated", audiences: access.audiences().to_vec(), sessions }
    }
}

impl From<SessionLimits> for SessionsView {
    fn from(SessionLimits { life, idle, kept, per_user }: SessionLimits) -> Self {
        Self {
            max: kept,
            max_per_user: per_user,
            life_seconds: life.as_secs_f64(),
            idle_seconds: idle.as_secs_f64(),
            max_failures: FAILURES,
        }
    }
}

impl From<&Certificates> for TlsView {
    fn from(certificates: &Certificates) -> Self {
        let files = certificates.files();
        let name = |path: &Path| path.display().to_string();
        Self {
            certificate_file: files.map(|files| name(files.0)),
            key_file: files.map(|files| name(files.1)),
            check_seconds: files.map(|_| certificates.check_every().as_secs_f64()),
        }
    }
}

impl From<Limits> for WebLimitsView {
    fn from(limits: Limits) -> Self {
        let Limits { head, body, idle, stalled, connections, per_peer, reserve } = limits;
        Self {
            connections,
            connections_per_peer: per_peer,
            connections_for_probes: reserve,
            path_and_query_bytes: MAX_URI,
            header_bytes: MAX_HEADERS,
            body_bytes: MAX_BODY,
            header_seconds: head.as_secs_f64(),
            body_seconds: body.as_secs_f64(),
            idle_seconds: idle.as_secs_f64(),
            stalled_seconds: stalled.as_secs_f64(),
        }
    }
}
