//! Whether a proxy is between this process and an API server, by the rules of Go's `httpproxy`, which kubectl follows:
//! `HTTPS_PROXY` for `https` and `HTTP_PROXY` for `http`, also in lower case, never for loopback, and not for what
//! `NO_PROXY` names. `ALL_PROXY` is not read.

use std::{env, net::IpAddr};

use http::Uri;
use ipnet::IpNet;

/// The variables of an environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    pub(super) https: String,
    pub(super) http: String,
    pub(super) no: String,
    /// `HTTP_PROXY` of a CGI program is a header of the request.
    pub(super) is_cgi: bool,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        let first = |names: [&str; 2]| {
            let mut set = names.into_iter().filter_map(|name| env::var(name).ok());
            set.find(|value| !value.is_empty()).unwrap_or_default()
        };
        Self {
            https: first(["HTTPS_PROXY", "https_proxy"]),
            http: first(["HTTP_PROXY", "http_proxy"]),
            no: first(["NO_PROXY", "no_proxy"]),
            is_cgi: env::var_os("REQUEST_METHOD").is_some_and(|method| !method.is_empty()),
        }
    }

    /// The proxy for a server; the error names the variable.
    pub(super) fn proxy_for(&self, server: &Uri) -> Result<Option<Uri>, String> {
        let (name, text) = match server.scheme_str() {
            Some("https") => ("HTTPS_PROXY", &self.https),
            Some("http") if !self.is_cgi => ("HTTP_PROXY", &self.http),
            _ => return Ok(None),
        };
        if text.is_empty() || is_direct(server, &self.no) {
            return Ok(None);
        }
        let text = if text.contains("://") { text.clone() } else { format!("http://{text}") };
        proxy(&text).map(Some).map_err(|why| format!("{name} {why}"))
    }
}

/// The proxy at this address, with its port; the error does not quote the address, which may have a password.
pub(super) fn proxy(text: &str) -> Result<Uri, String> {
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let (scheme, port) = match scheme.to_ascii_lowercase().as_str() {
        "http" => ("http", 80),
        "https" => ("https", 443),
        // Both leave names to the proxy.
        "socks5" | "socks5h" => ("socks5", 1080),
        _ => return Err("has a scheme other than http, https and socks5".to_owned()),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let malformed = |_| "is no address of a proxy".to_owned();
    let uri: Uri = format!("{scheme}://{authority}/").parse().map_err(malformed)?;
    if uri.host().is_none_or(str::is_empty) {
        return Err("names no host".to_owned());
    }
    let has_port = uri.port().is_some();
    if has_port {
        Ok(uri)
    } else {
        format!("{scheme}://{authority}:{port}/").parse().map_err(malformed)
    }
}

/// Whether requests to the server take no proxy.
fn is_direct(server: &Uri, no_proxy: &str) -> bool {
    let host = bare(server.host().unwrap_or_default()).to_ascii_lowercase();
    let port =
        server.port_u16().unwrap_or(if server.scheme_str() == Some("http") { 80 } else { 443 });
    let ip = host.parse::<IpAddr>().ok();
    host == "localhost"
        || ip.is_some_and(|ip| ip.to_canonical().is_loopback())
        || no_proxy
            .split(',')
            .any(|entry| names(&entry.trim().to_ascii_lowercase(), &host, ip, port))
}

/// Whether an entry of `NO_PROXY` names a host.
fn names(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(network) = entry.parse::<IpNet>() {
        return ip.is_some_and(|ip| network.contains(&ip.to_canonical()));
    }
    let (name, of_port) = with_port(entry);
    if of_port.is_some_and(|of| of != port.to_string()) {
        return false;
    }
    match (name.parse::<IpAddr>(), ip) {
        (Ok(named), Some(ip)) => named.to_canonical() == ip.to_canonical(),
        (Ok(_), None) | (Err(_), Some(_)) => false,
        (Err(_), None) => is_within(name, host),
    }
}

/// `example.com` is that host and those below it; `.example.com` and `*.example.com` are those below it.
fn is_within(name: &str, host: &str) -> bool {
    let name = if name.starts_with("*.") { &name[1..] } else { name };
    match name.strip_prefix('.') {
        None if name.is_empty() => false,
        None => host == name || host.ends_with(&format!(".{name}")),
        Some(_) => host.ends_with(name),
    }
}

/// The host and the port of `host:port` and `[::1]:port`; an address of many colons has no port.
fn with_port(entry: &str) -> (&str, Option<&str>) {
    match entry.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => {
            (bare(host), Some(port).filter(|port| !port.is_empty()))
        }
        _ => (bare(entry), None),
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(no: &str) -> Environment {
        let (https, http) = ("http://proxy:3128".to_owned(), "http://plain:3128".to_owned());
        Environment { https, http, no: no.to_owned(), is_cgi: false }
    }

    fn proxied(no: &str, server: &str) -> bool {
        of(no).proxy_for(&server.parse().unwrap()).unwrap().is_some()
    }

    #[test]
    fn no_proxy_is_read_as_go_reads_it() {
        for (no, server, expected) in [
            ("", "https://api.example.com", true),
            ("", "https://localhost:6443", false),
            ("", "https://127.9.9.9:6443", false),
            ("", "https://[::1]:6443", false),
            ("*", "https://api.example.com", false),
            ("a.com,*", "https://api.example.com", false),
            ("example.com", "https://example.com", false),
            ("example.com", "https://api.example.com", false),
            ("example.com", "https://notexample.com", true),
            ("EXAMPLE.com", "https://api.Example.COM", false),
            (".example.com", "https://api.example.com", false),
            (".example.com", "https://example.com", true),
            ("*.example.com", "https://api.example.com", false),
            ("*.example.com", "https://example.com", true),
            ("other.com, example.com ", "https://api.example.com", false),
            (",,", "https://api.example.com", true),
            ("example.com:6443", "https://example.com:6443", false),
            ("example.com:6443", "https://example.com", true),
            ("example.com:443", "https://example.com", false),
            (":443", "https://example.com", true),
            ("10.1.2.3", "https://10.1.2.3:6443", false),
            ("10.1.2.3", "https://10.1.2.4:6443", true),
            ("10.1.2.3:6443", "https://10.1.2.3:6443", false),
            ("10.1.2.3:443", "https://10.1.2.3:6443", true),
            ("10.0.0.0/8", "https://10.1.2.3:6443", false),
            ("10.0.0.0/8", "https://11.1.2.3:6443", true),
            ("10.0.0.0/8", "https://10.example.com", true),
            ("10.1.2", "https://10.1.2.3", true),
            ("fd00::/8", "https://[fd00::1]:6443", false),
            ("fd00::1", "https://[fd00::1]:6443", false),
            ("[fd00::1]:6443", "https://[fd00::1]:6443", false),
            ("[fd00::1]:443", "https://[fd00::1]:6443", true),
            ("::/0", "https://10.1.2.3", true),
            ("svc,.cluster.local", "https://kubernetes.default.svc", false),
            ("example.com example.org", "https://example.com", true),
        ] {
            assert_eq!(proxied(no, server), expected, "NO_PROXY={no} {server}");
        }
    }

    #[test]
    fn the_variable_of_the_scheme_counts() {
        let proxy = |environment: &Environment, server: &str| {
            let proxy = environment.proxy_for(&server.parse().unwrap()).unwrap();
            proxy.map(|uri| uri.to_string())
        };
        let environment = of("");
        assert_eq!(proxy(&environment, "https://a").unwrap(), "http://proxy:3128/");
        assert_eq!(proxy(&environment, "http://a").unwrap(), "http://plain:3128/");
        let cgi = Environment { is_cgi: true, ..environment };
        assert_eq!(proxy(&cgi, "http://a"), None);
        assert_eq!(proxy(&Environment::default(), "https://a"), None);
    }

    #[test]
    fn a_proxy_has_a_known_scheme_and_a_port() {
        for (text, expected) in [
            ("proxy", "http://proxy:80/"),
            ("proxy:3128", "http://proxy:3128/"),
            ("https://proxy", "https://proxy:443/"),
            ("socks5://u:p@proxy", "socks5://u:p@proxy:1080/"),
            ("socks5h://[::1]:9", "socks5://[::1]:9/"),
            ("HTTP://proxy:1/path?x", "http://proxy:1/"),
        ] {
            let environment = Environment { https: text.to_owned(), ..Environment::default() };
            let proxy = environment.proxy_for(&Uri::from_static("https://a")).unwrap();
            assert_eq!(proxy.unwrap().to_string(), expected, "{text}");
        }
        for text in ["ftp://s3cret@proxy", "http://", "http://s3cret@a b"] {
            let environment = Environment { https: text.to_owned(), ..Environment::default() };
            let why = environment.proxy_for(&Uri::from_static("https://a")).unwrap_err();
            assert!(why.starts_with("HTTPS_PROXY ") && !why.contains("s3cret"), "{why}");
        }
    }
}
