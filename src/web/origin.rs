//! Protects commands against cross-site request forgery: pure.
//!
//! A page of any website can make a browser send requests here, with the cookies of this server. The
//! page cannot read the answers, but a command needs none. So a command must not come from a page of
//! another site, which the headers of the browser show. And a command must be JSON: browsers send no
//! JSON to other sites without a preflight.

use actix_web::http::{
    Method, Uri,
    header::{self, HeaderMap, HeaderValue},
    uri::{Authority, Scheme},
};

use super::{
    endpoint::{FORM, JSON},
    status::Refused,
};

/// The protocol of the clients, as in an `Origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Http,
    Https,
}

impl Protocol {
    pub(super) fn scheme(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// The parts of a request that show its origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender<'a> {
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    /// The host in the request line, which HTTP/2 has instead of the header.
    pub(super) authority: Option<&'a Authority>,
    /// Whether a read calls handlers or occupies the server.
    pub(super) acts: bool,
}

pub(super) const FETCH_SITE: &str = "sec-fetch-site";

/// Whether the method is safe by HTTP.
pub(super) fn only_reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Refuses what a page of another site may have sent: a command, or a read that does more than read.
pub(super) fn check(protocol: Protocol, sender: Sender<'_>) -> Result<(), Refused> {
    if only_reads(sender.method) && !sender.acts {
        return Ok(());
    }
    let sites: Vec<&HeaderValue> = sender.headers.get_all(FETCH_SITE).collect();
    if !sites.iter().all(|site| *site == "same-origin" || *site == "none") {
        return Err(Refused::OtherSite);
    }
    // The browser has compared the schemes: behind a proxy that terminates TLS they differ here.
    let is_attested = !sites.is_empty() && sites.iter().all(|site| *site == "same-origin");
    let mut origins = sender.headers.get_all(header::ORIGIN);
    if origins.all(|origin| is_here(origin, protocol, is_attested, sender)) {
        Ok(())
    } else {
        Err(Refused::OtherOrigin)
    }
}

/// Whether a browser sends a preflight before such a request to another site. Of the methods that
/// change something it sends only POST without one, and never JSON.
pub(super) fn needs_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method != Method::POST || is_json(headers)
}

/// Whether the browser confirms that a page of this server sent a request that passed [`check`].
/// Required for forms, which any page could send, and for cookies.
pub(super) fn is_proven(headers: &HeaderMap) -> bool {
    let is_attested = headers.get_all(FETCH_SITE).any(|site| *site == "same-origin");
    is_attested || headers.contains_key(header::ORIGIN)
}

fn is_json(headers: &HeaderMap) -> bool {
    is_of_type(headers, JSON)
}

pub(super) fn is_form(headers: &HeaderMap) -> bool {
    is_of_type(headers, FORM)
}

fn is_of_type(headers: &HeaderMap, expected: &str) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE).peekable();
    types.peek().is_some()
        && types.all(|value| {
            let essence = value.to_str().ok().and_then(|value| value.split(';').next());
            essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(expected))
        })
}

/// Whether an `Origin` is the server that the request was sent to.
fn is_here(origin: &HeaderValue, protocol: Protocol, is_attested: bool, to: Sender<'_>) -> bool {
    let origin: Option<Uri> = origin.to_str().ok().and_then(|origin| origin.parse().ok());
    let Some((scheme, Some(from))) = origin.as_ref().map(|uri| (uri.scheme(), uri.authority()))
    else {
        return false;
    };
    let (expected, default_port) = match scheme {
        Some(scheme) if *scheme == Scheme::HTTP => (Protocol::Http, 80),
        Some(scheme) if *scheme == Scheme::HTTPS => (Protocol::Https, 443),
        Some(_) | None => return false,
    };
    let hosts = to.headers.get_all(header::HOST);
    let hosts = hosts.map(|host| Authority::try_from(host.as_bytes()).ok());
    let mut hosts = hosts.chain(to.authority.cloned().map(Some)).peekable();
    let is_same =
        |host: Option<Authority>| host.is_some_and(|host| is_same_host(from, &host, default_port));
    (expected == protocol || is_attested) && hosts.peek().is_some() && hosts.all(is_same)
}

/// Whether two hosts with their ports are equal. One with a user never is.
pub(super) fn is_same_host(a: &Authority, b: &Authority, default_port: u16) -> bool {
    // The port may be invalid.
    let has_none = |authority: &Authority| authority.as_str() == authority.host();
    let port = |authority: &Authority| {
        authority.port_u16().or_else(|| has_none(authority).then_some(default_port))
    };
    let is_plain = |authority: &Authority| !authority.as_str().contains('@');
    is_plain(a)
        && is_plain(b)
        && a.host().eq_ignore_ascii_case(b.host())
        && port(a).is_some()
        && port(a) == port(b)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderName;

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name = HeaderName::try_from(*name).unwrap();
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn passes(method: &Method, protocol: Protocol, pairs: &[(&str, &str)]) -> bool {
        let headers = headers(pairs);
        let acts = false;
        check(protocol, Sender { method, headers: &headers, authority: None, acts }).is_ok()
    }

    fn posts(protocol: Protocol, host: &str, origin: &str) -> bool {
        passes(&Method::POST, protocol, &[("host", host), ("origin", origin)])
    }

    #[test]
    fn a_command_must_come_from_this_server_or_from_no_page() {
        use Protocol::{Http, Https};
        for (protocol, host, origin, expected) in [
            (Http, "localhost:8080", "http://localhost:8080", true),
            (Http, "LOCALHOST:8080", "http://localhost:8080", true),
            (Http, "[::1]:8080", "http://[::1]:8080", true),
            (Http, "ops.example", "http://ops.example", true),
            (Http, "ops.example:80", "http://ops.example", true),
            (Https, "ops.example", "https://ops.example:443", true),
            (Http, "localhost:8080", "https://localhost:8080", false),
            (Https, "ops.example", "http://ops.example", false),
            (Http, "localhost:8080", "http://localhost:8081", false),
            (Http, "localhost:8080", "http://localhost", false),
            (Http, "localhost:8080", "http://127.0.0.1:8080", false),
            (Http, "localhost:8080", "http://evil.example", false),
            (Http, "localhost:8080", "http://localhost:8080.evil.example", false),
            (Http, "localhost:8080", "http://localhost:8080@evil.example", false),
            (Http, "localhost:8080", "http://evil@localhost:8080", false),
            (Http, "localhost:8080", "null", false),
            (Http, "localhost:8080", "", false),
            (Http, "localhost:8080", "localhost:8080", false),
            (Http, "localhost:8080", "ftp://localhost:8080", false),
            (Http, "localhost:x", "http://localhost", false),
            (Http, "localhost:", "http://localhost", false),
        ] {
            let passes = posts(protocol, host, origin);
            assert_eq!(passes, expected, "{protocol:?} {host} from {origin}");
        }
        assert!(passes(&Method::POST, Http, &[("host", "localhost:8080")]));
    }

    #[test]
    fn every_origin_and_every_host_header_is_checked() {
        let (here, there) = ("http://localhost", "http://evil.example");
        for (pairs, expected) in [
            (vec![("host", "localhost"), ("origin", here), ("origin", here)], true),
            (vec![("host", "localhost"), ("origin", here), ("origin", there)], false),
            (vec![("host", "localhost"), ("host", "evil.example"), ("origin", here)], false),
            (vec![("origin", here)], false),
        ] {
            let passes = passes(&Method::PUT, Protocol::Http, &pairs);
            assert_eq!(passes, expected, "{pairs:?}");
        }
    }

    #[test]
    fn the_fetch_site_of_the_browser_is_checked() {
        for (site, expected) in
            [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)]
        {
            let pairs = [("host", "localhost"), (FETCH_SITE, site)];
            assert_eq!(passes(&Method::POST, Protocol::Http, &pairs), expected, "{site}");
            assert!(passes(&Method::GET, Protocol::Http, &pairs), "reads are always allowed");
        }
        // A proxy terminates TLS: the browser uses https, and the server does not.
        let proxied = |site| {
            let origin = ("origin", "https://ops.example");
            passes(&Method::POST, Protocol::Http, &[("host", "ops.example"), origin, site])
        };
        assert!(proxied((FETCH_SITE, "same-origin")));
        assert!(!proxied((FETCH_SITE, "none")));
    }

    #[test]
    fn only_origin_and_fetch_site_prove_the_origin_of_a_form() {
        for (pairs, expected) in [
            (vec![("origin", "http://localhost")], true),
            (vec![(FETCH_SITE, "same-origin")], true),
            (vec![(FETCH_SITE, "none")], false),
            (vec![("referer", "http://localhost/")], false),
            (vec![], false),
        ] {
            assert_eq!(is_proven(&headers(&pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn only_json_is_json() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("text/plain; application/json", false),
            ("application/jsonp", false),
            ("application/x-www-form-urlencoded", false),
        ] {
            assert_eq!(is_json(&headers(&[("content-type", value)])), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
        let twice = [("content-type", "application/json"), ("content-type", "text/plain")];
        assert!(!is_json(&headers(&twice)));
    }
}
