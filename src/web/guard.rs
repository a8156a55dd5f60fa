//! What every request passes: limits on sizes, the check of the Host header, and of who sends it.
//!
//! On loopback there is no authentication, and every website that a developer opens can make the
//! browser send requests here. Same-origin rules keep it from reading the answers, unless its own
//! name is made to resolve to 127.0.0.1: so only names of the loopback are answered.

use std::time::Duration;

use actix_web::{
    Error, HttpMessage, HttpResponse, ResponseError,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        ConnectionType, Method,
        header::{self, HeaderMap},
    },
    middleware::Next,
};

use super::{
    access::Access,
    body, endpoint, headers,
    origin::{self, Protocol, Sender},
    status::Refused,
    table,
};

/// What every request must pass.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    pub(super) hosts: Hosts,
    pub(super) protocol: Protocol,
    /// How long a client may take to send a body.
    pub(super) body_timeout: Duration,
    /// Who decides whom to let in; `None` lets in everybody.
    pub(super) access: Option<Access>,
}

/// How much of an answer is for who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    /// Whether all is well, and not a word more.
    Outcome,
}

/// Whose requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Those that name the loopback as their host.
    Loopback,
    /// All: the address can be reached by other names.
    Any,
}

const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

const MAX_URI: usize = 8 << 10;
const MAX_HEADERS: usize = 16 << 10;

pub(super) async fn guard<B: MessageBody + 'static>(
    gate: Gate,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let host = request.headers().get(header::HOST).cloned();
    let mut response = match admit(&gate, &mut request).await {
        Ok(Shown::All) => next.call(request).await?.map_into_left_body(),
        Ok(Shown::Outcome) => outcome_of(next.call(request).await?),
        Err(refused) => {
            let response = refuse(&mut request, &refused);
            request.into_response(response).map_into_right_body()
        }
    };
    let host = host.as_ref().and_then(|host| host.to_str().ok()).unwrap_or_default();
    let status = response.status();
    headers::put(response.headers_mut(), status, gate.protocol, host);
    Ok(response)
}

async fn admit(gate: &Gate, request: &mut ServiceRequest) -> Result<Shown, Refused> {
    check_size(request)?;
    if gate.hosts == Hosts::Loopback && !names_loopback(request) {
        return Err(Refused::WrongHost);
    }
    check_sender(gate, request)?;
    let shown = match &gate.access {
        Some(access) => authorize(access, request).await?,
        None => Shown::All,
    };
    body::read(request, gate.body_timeout).await?;
    Ok(shown)
}

async fn authorize(access: &Access, request: &ServiceRequest) -> Result<Shown, Refused> {
    // The path that chooses the route: not as it was spelled.
    let path = request.match_info().as_str();
    let verb = match request.method() {
        &Method::HEAD => "get".to_owned(),
        method => method.as_str().to_lowercase(),
    };
    let admitted = access.admit(token(request.headers()), &verb, path).await;
    if let Ok(user) = &admitted
        && !origin::only_reads(request.method())
    {
        tracing::info!(user = user.username, verb, path, "a command over HTTP");
    }
    let is_open = || {
        let endpoint = table::find(request.method(), path);
        endpoint.is_some_and(|endpoint| endpoint.access == endpoint::Access::Open)
    };
    match admitted {
        Ok(user) => {
            request.extensions_mut().insert(user);
            Ok(Shown::All)
        }
        // A probe has no token.
        Err(_) if is_open() => Ok(Shown::Outcome),
        Err(refused) => Err(refused),
    }
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn outcome_of<B>(response: ServiceResponse<B>) -> ServiceResponse<EitherBody<B>> {
    let (request, response) = response.into_parts();
    let code = response.status();
    let outcome = if code.is_success() { "ok" } else { "not ok" };
    let response =
        HttpResponse::build(code).content_type("text/plain; charset=utf-8").body(outcome);
    ServiceResponse::new(request, response).map_into_right_body()
}

fn check_size(request: &ServiceRequest) -> Result<(), Refused> {
    if request.uri().to_string().len() > MAX_URI {
        return Err(Refused::TooLong { what: "path and query", limit: MAX_URI });
    }
    if size(request.headers()) > MAX_HEADERS {
        return Err(Refused::HeadersTooLarge { limit: MAX_HEADERS });
    }
    Ok(())
}

fn check_sender(gate: &Gate, request: &ServiceRequest) -> Result<(), Refused> {
    let (method, headers) = (request.method(), request.headers());
    let authority = request.uri().authority();
    origin::check(gate.protocol, Sender { method, headers, authority })?;
    if origin::needs_preflight(method, headers) || !is_answered(request) {
        Ok(())
    } else {
        Err(Refused::NotJson)
    }
}

/// Whether somebody may answer: what no path or no method is here has its own refusal.
fn is_answered(request: &ServiceRequest) -> bool {
    let path = request.match_info().as_str();
    let has_other_methods = !table::methods_of(path).is_empty();
    match table::find(request.method(), path) {
        Some(_) => true,
        None if has_other_methods => false,
        // A path of the program's own.
        None => request.resource_map().match_pattern(path).is_some(),
    }
}

/// What is refused here may still be on its way: the connection ends with it.
fn refuse(request: &mut ServiceRequest, refused: &Refused) -> HttpResponse {
    let mut response = refused.error_response();
    response.head_mut().set_connection_type(ConnectionType::Close);
    let unread = request.take_payload();
    response.map_body(|_, body| body::with_unread(body, unread))
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
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
