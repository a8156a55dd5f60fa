//! Checks every request: its size, Host header, origin and access.
//!
//! On loopback there is no authentication, and every website that a developer opens can make the
//! browser send requests here. The same-origin policy keeps it from reading the answers, unless its
//! own name resolves to 127.0.0.1. So only names of the loopback are accepted.

use std::net::{Ipv4Addr, Ipv6Addr};

use actix_web::{
    Error, HttpMessage, HttpResponse, ResponseError,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        ConnectionType,
        header::{self, HeaderMap, HeaderValue},
        uri::Authority,
    },
    middleware::Next,
};

use super::{
    audit::{self, Entry},
    body,
    connection::{self, SlotKind},
    endpoint::{AccessRule, Endpoint},
    headers,
    origin::{self, Sender},
    request_rules::{Hosts, MAX_HEADERS, MAX_URI, RequestRules},
    status::Refused,
    visitor::{self, Shown, VISITOR, Visitor},
};

/// Accepted besides the addresses.
const LOOPBACK_NAME: &str = "localhost";

pub(super) async fn guard<B: MessageBody + 'static>(
    rules: RequestRules,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let (busy, slot) = (connection::busy(&request), connection::slot_kind(&request));
    if slot == SlotKind::Reserved {
        connection::end(&request);
    }
    let mut entry = Entry::of(&request, &rules.quota, &rules.paths);
    let host = host(&request);
    // The program's own routes trust this header, so it is overwritten.
    let scheme = HeaderValue::from_static(rules.protocol.scheme());
    request.headers_mut().insert(header::X_FORWARDED_PROTO, scheme);
    let admitted = admit(&rules, &mut request).await;
    let visitor = visitor::of(&request);
    if let Err(refused) = &admitted {
        audit::record_denial(&request, refused);
    }
    if admitted.is_ok() && audits_itself(&rules, &request) {
        entry.take().into_iter().for_each(Entry::withdraw);
    }
    if let (Some(entry), Some(visitor)) = (&mut entry, &visitor) {
        entry.is_by(&visitor.user.username);
    }
    let answer = VISITOR.scope(visitor, answer(&rules, admitted, request, next)).await?;
    let mut response = answer.map_body(|_, body| body::holding(body, busy));
    if slot == SlotKind::Reserved {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    let status = response.status();
    if let Some(mut entry) = entry {
        // A login.
        if let Some(Visitor { user, .. }) = response.response().extensions().get() {
            entry.is_by(&user.username);
        }
        entry.is_answered(status);
    }
    headers::put(response.headers_mut(), status, rules.protocol, &host);
    Ok(response)
}

async fn answer<B: MessageBody + 'static>(
    rules: &RequestRules,
    admitted: Result<Shown, Refused>,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    Ok(match admitted {
        Ok(Shown::All) => next.call(request).await?.map_into_boxed_body(),
        Ok(Shown::Outcome) => outcome_of(next.call(request).await?),
        Err(refused) => {
            let response = refuse(rules, &mut request, &refused);
            request.into_response(response)
        }
    })
}

async fn admit(rules: &RequestRules, request: &mut ServiceRequest) -> Result<Shown, Refused> {
    check_size(request)?;
    if rules.hosts == Hosts::Loopback && !names_this(rules, request) {
        return Err(Refused::WrongHost);
    }
    let endpoint = rules.paths.find(request.method(), request.match_info().as_str());
    check_sender(rules, request, endpoint)?;
    let is_probe = endpoint.is_some_and(|endpoint| endpoint.access == AccessRule::Open);
    if connection::slot_kind(request) == SlotKind::Reserved && !is_probe {
        return Err(Refused::NoRoom);
    }
    let shown = match &rules.access {
        Some(access) => {
            let rule = rules.paths.access(request.method(), request.match_info().as_str());
            visitor::admit(access, rules.protocol, (rule, endpoint), request).await?
        }
        None => Shown::All,
    };
    body::read(request, rules.limits.body).await?;
    Ok(shown)
}

/// Whether a handler audits the commands in an admitted request.
fn audits_itself(rules: &RequestRules, request: &ServiceRequest) -> bool {
    let endpoint = rules.paths.find(request.method(), request.match_info().as_str());
    endpoint.is_some_and(|endpoint| endpoint.access == AccessRule::Authenticated)
}

fn outcome_of<B>(response: ServiceResponse<B>) -> ServiceResponse<BoxBody> {
    let (request, response) = response.into_parts();
    let code = response.status();
    let outcome = if code.is_success() { "ok" } else { "not ok" };
    let response =
        HttpResponse::build(code).content_type("text/plain; charset=utf-8").body(outcome);
    ServiceResponse::new(request, response)
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

fn check_sender(
    rules: &RequestRules,
    request: &ServiceRequest,
    endpoint: Option<&Endpoint>,
) -> Result<(), Refused> {
    let (method, headers) = (request.method(), request.headers());
    let authority = request.uri().authority();
    let acts = endpoint.is_some_and(|endpoint| endpoint.acts_on(request.query_string()));
    origin::check(rules.protocol, Sender { method, headers, authority, acts })?;
    if origin::needs_preflight(method, headers)
        || !(endpoint.is_some() || is_own_path(rules, request))
    {
        return Ok(());
    }
    match endpoint.is_some_and(Endpoint::takes_form) {
        true if !origin::is_form(headers) => Err(Refused::NotForm),
        true if !origin::is_proven(headers) => Err(Refused::NoOrigin),
        true => Ok(()),
        false => Err(Refused::NotJson),
    }
}

/// Whether the path belongs to one of the program's own routes. Unknown paths and methods are refused
/// elsewhere.
fn is_own_path(rules: &RequestRules, request: &ServiceRequest) -> bool {
    let path = request.match_info().as_str();
    rules.paths.methods_of(path).is_empty() && request.resource_map().match_pattern(path).is_some()
}

/// The rest of a refused request may still arrive, so the connection is closed.
fn refuse(rules: &RequestRules, request: &mut ServiceRequest, refused: &Refused) -> HttpResponse {
    let access = rules.access.as_ref();
    let page = access.and_then(|access| rules.paths.pages.instead_of(refused, access, request));
    let mut response = page.unwrap_or_else(|| refused.error_response());
    response.head_mut().set_connection_type(ConnectionType::Close);
    connection::end(request);
    // The server closes the connection only while the rest is held; otherwise it waits for all of it,
    // however slow.
    let unread = request.take_payload();
    response.map_body(|_, body| body::holding(body, unread))
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// The host of the request. HTTP/2 sends it as the authority.
fn host(request: &ServiceRequest) -> String {
    let authority = request.uri().authority().map(Authority::as_str);
    let header = || request.headers().get(header::HOST)?.to_str().ok();
    authority.or_else(header).unwrap_or_default().to_owned()
}

/// Whether every host of the request is a loopback name, with or without a port, or the proxy's name.
fn names_this(rules: &RequestRules, request: &ServiceRequest) -> bool {
    let headers = request.headers().get_all(header::HOST).map(|value| value.to_str().ok());
    let authority = request.uri().authority().map(|authority| Some(authority.as_str()));
    let mut hosts = headers.chain(authority).peekable();
    let is_proxy = |host: &str| rules.proxy.as_ref().is_some_and(|proxy| proxy.is(host));
    let is_this = |host: &str| is_loopback_name(host) || is_proxy(host);
    hosts.peek().is_some() && hosts.all(|host| host.is_some_and(is_this))
}

/// Other names can resolve to the loopback, addresses cannot.
fn is_loopback_name(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_address = match address {
        Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
        None => name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback()),
    };
    (is_address || name.eq_ignore_ascii_case(LOOPBACK_NAME))
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_loopback_are_loopback_names() {
        for good in [
            "127.0.0.1",
            "127.0.0.1:8080",
            "127.0.0.2:8080",
            "localhost",
            "LocalHost:1",
            "[::1]",
            "[::1]:8080",
        ] {
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
            "[::1",
            "[127.0.0.1]",
            "[::2]:8080",
            "10.0.0.1",
            "0.0.0.0",
            "user@localhost",
            "ſocalhost",
        ] {
            assert!(!is_loopback_name(bad), "{bad}");
        }
    }
}
