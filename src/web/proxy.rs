//! A proxy that ends TLS in front of the endpoint. That there is one, and how it is called, the program
//! says, never a request: no `X-Forwarded-*` is read, which anybody can send.

use std::str::FromStr;

use actix_web::http::uri::Authority;

use super::origin;

/// Where a proxy that ends TLS serves the endpoint: a host, and a port unless it is 443. Read from a
/// text such as `ops.example` or `ops.example:8443`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsProxy(Authority);

/// A text that is no host.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a host with or without a port, as `ops.example` or `ops.example:8443` are")]
pub struct NoHost(String);

const HTTPS_PORT: u16 = 443;

impl TlsProxy {
    /// Whether a request that names this host was sent to the proxy.
    pub(super) fn is(&self, host: &str) -> bool {
        let host = Authority::try_from(host);
        host.is_ok_and(|host| origin::is_same_host(&self.0, &host, HTTPS_PORT))
    }

    pub(super) fn host(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for TlsProxy {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let proxy = text.parse().map(Self).ok();
        // What is not the same as itself has a user, or a port that is none.
        proxy.filter(|proxy| proxy.is(text)).ok_or_else(|| NoHost(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_by_its_host_and_port_and_by_nothing_else() {
        for (proxy, host, expected) in [
            ("ops.example", "ops.example", true),
            ("ops.example", "OPS.example:443", true),
            ("ops.example:443", "ops.example", true),
            ("ops.example:8443", "ops.example:8443", true),
            ("ops.example:8443", "ops.example", false),
            ("ops.example", "ops.example:80", false),
            ("ops.example", "evil.example", false),
            ("ops.example", "ops.example.evil.example", false),
            ("ops.example", "evil@ops.example", false),
            ("ops.example", "", false),
        ] {
            let found = proxy.parse::<TlsProxy>().unwrap().is(host);
            assert_eq!(found, expected, "{proxy} by {host}");
        }
        for bad in ["", "https://ops.example", "ops.example/", "a@ops.example", "ops.example:x"] {
            assert!(bad.parse::<TlsProxy>().is_err(), "{bad}");
        }
    }
}
