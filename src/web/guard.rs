//! What every request passes: the check of the Host header, limits on sizes, security headers.
//!
//! On loopback there is no authentication, and every website that a developer opens can make the
//! browser send requests here. Same-origin rules keep it from reading the answers, unless its own
//! name is made to resolve to 127.0.0.1: so only names of the loopback are answered.

use actix_web::{
    Error, ResponseError,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        self,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
};

use super::{status::Refused, table};

/// Whose requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// Those that name the loopback as their host.
    Loopback,
    /// All: the address can be reached by other names.
    AnyHost,
}

const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

const MAX_URI: usize = 8 << 10;
const MAX_HEADERS: usize = 16 << 10;
/// No route reads a body.
const MAX_BODY: u64 = 64 << 10;

/// Data is shown, never run.
const DATA: &str = "default-src 'none'; frame-ancestors 'none'";
/// A page uses what this server sends, and nothing that stands in the page itself.
const PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) async fn guard<B: MessageBody + 'static>(
    policy: Policy,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let mut response = match check(policy, &request) {
        Ok(()) => next.call(request).await?.map_into_left_body(),
        Err(refused) => request.into_response(refused.error_response()).map_into_right_body(),
    };
    put_headers(response.headers_mut());
    Ok(response)
}

fn put_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_page = content_type.is_some_and(|content_type| content_type.starts_with("text/html"));
    let policy = HeaderValue::from_static(if is_page { PAGE } else { DATA });
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

fn check(policy: Policy, request: &ServiceRequest) -> Result<(), Refused> {
    if request.uri().to_string().len() > MAX_URI {
        return Err(Refused::TooLong { what: "path and query", limit: MAX_URI });
    }
    if size(request.headers()) > MAX_HEADERS {
        return Err(Refused::HeadersTooLarge { limit: MAX_HEADERS });
    }
    if body_size(request).is_some_and(|size| size > MAX_BODY) {
        return Err(Refused::BodyTooLarge { limit: MAX_BODY });
    }
    if policy == Policy::Loopback && !names_loopback(request) {
        return Err(Refused::WrongHost);
    }
    let is_order = request.method() == http::Method::POST
        && table::find(request.method(), request.match_info().as_str()).is_some();
    if is_order && !is_deliberate(request.headers()) {
        return Err(Refused::NotDeliberate);
    }
    Ok(())
}

/// Whether a request is one that no page of another site can make a browser send without asking first.
fn is_deliberate(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
    let is_json = content_type.split(';').next().is_some_and(|it| it.trim() == "application/json");
    let origin = text(header::ORIGIN).and_then(|origin| origin.split_once("://"));
    match (origin, text(header::HOST)) {
        (Some((_, origin)), Some(host)) => origin == host,
        (Some(_), None) => false,
        (None, _) => is_json,
    }
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

fn body_size(request: &ServiceRequest) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether every host that the request names is a loopback name, with or without a port.
fn names_loopback(request: &ServiceRequest) -> bool {
    let headers = request.headers().get_all(header::HOST).map(|value| value.to_str().ok());
    let authority = request.uri().authority().map(|authority| Some(authority.as_str()));
    let mut hosts = headers.chain(authority).peekable();
    hosts.peek().is_some() && hosts.all(|host| host.is_some_and(is_loopback_name))
}

fn is_loopback_name(host: &str) -> bool {
    LOOPBACK_HOSTS.into_iter().any(|name| {
        let Some(rest) = strip_prefix_ignoring_case(host, name) else { return false };
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
    })
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_loopback_are_loopback_names() {
        for good in ["127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:1", "[::1]:8080"] {
            assert!(is_loopback_name(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "localhost:",
            "localhost:80:80",
            "localhost:99999",
            "::1",
            "user@localhost",
            "ſocalhost",
        ] {
            assert!(!is_loopback_name(bad), "{bad}");
        }
    }
}
