//! A proxy that terminates TLS in front of the endpoint. The program configures it. `X-Forwarded-*`
//! headers are not trusted, because anybody can send them.

use std::str::FromStr;

use actix_web::http::uri::Authority;

use super::origin;

/// The host of a proxy that terminates TLS, with a port unless it is 443. Parsed from a text such as
/// `ops.example` or `ops.example:8443`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsProxy(Authority);

/// A text that is not a host.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a host with an optional port, such as `ops.example` or `ops.example:8443`")]
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
        // A host that does not equal itself has a user or an invalid port.
        proxy.filter(|proxy| proxy.is(text)).ok_or_else(|| NoHost(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_matches_only_its_host_and_port() {
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

    #[test]
    fn any_text_is_a_proxy_or_refused() {
        const TOKENS: [&str; 10] =
            ["ops.example", ":", "443", "@", "[", "]", "::1", "/", "%", "65536"];
        operetta_harness::random::texts(&TOKENS, |text| {
            if let Ok(proxy) = text.parse::<TlsProxy>() {
                assert!(proxy.is(text));
            }
        });
    }
}
