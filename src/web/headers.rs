//! The security headers of answers.

use actix_web::http::{
    StatusCode,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};

use super::origin::Protocol;

/// Of every answer.
const ALWAYS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    // For browsers that do not know `frame-ancestors`.
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// Data is never executed.
const DATA: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page uses only resources of this server and no inline scripts, so injected scripts do not run.
const PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                    connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// With `no-referrer` a browser would send no origin with the forms of a page.
const PAGE_REFERRER: &str = "same-origin";
const DATA_REFERRER: &str = "no-referrer";

/// A year.
const ONLY_TLS: &str = "max-age=31536000";

/// Adds the headers to an answer. Answers are not cached, unless their handler sets it.
pub(super) fn put(headers: &mut HeaderMap, status: StatusCode, protocol: Protocol, host: &str) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let (policy, referrer) =
        if is_page(headers) { (PAGE, PAGE_REFERRER) } else { (DATA, DATA_REFERRER) };
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static(referrer));
    if !status.is_success() || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if protocol == Protocol::Https && !is_local(host) {
        let value = HeaderValue::from_static(ONLY_TLS);
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
}

fn is_page(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|content_type| content_type.starts_with("text/html"))
}

/// Through a port-forward every server is `localhost`, so a strict transport policy for this one would
/// apply to others.
fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_on(content_type: &'static str, protocol: Protocol, host: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        put(&mut headers, StatusCode::OK, protocol, host);
        headers
    }

    #[test]
    fn data_runs_no_scripts_and_a_page_only_those_of_this_server() {
        let policy = |content_type| {
            let headers = put_on(content_type, Protocol::Http, "localhost");
            headers.get(header::CONTENT_SECURITY_POLICY).unwrap().to_str().unwrap().to_owned()
        };
        for content_type in ["application/json", "text/plain; charset=utf-8", "image/svg+xml"] {
            let policy = policy(content_type);
            assert!(policy.starts_with("default-src 'none';"), "{policy}");
            assert!(!policy.contains("'self'"), "{content_type}: {policy}");
        }
        let referrer = |content_type| {
            let headers = put_on(content_type, Protocol::Http, "localhost");
            headers.get(header::REFERRER_POLICY).unwrap().clone()
        };
        assert_eq!(referrer("application/json"), "no-referrer");
        assert_eq!(referrer("text/html"), "same-origin");
        let page = policy("text/html; charset=utf-8");
        assert!(page.contains("script-src 'self';") && !page.contains("unsafe"), "{page}");
        assert!(page.contains("frame-ancestors 'none'"), "{page}");
    }

    #[test]
    fn strict_transport_security_is_set_only_over_tls_and_never_for_localhost() {
        let is_set = |protocol, host| {
            let headers = put_on("text/plain", protocol, host);
            headers.contains_key(header::STRICT_TRANSPORT_SECURITY)
        };
        assert!(is_set(Protocol::Https, "ops.example:8443"));
        assert!(!is_set(Protocol::Http, "ops.example"));
        assert!(!is_set(Protocol::Https, "localhost:8080"));
    }

    #[test]
    fn only_successful_answers_with_their_own_header_are_cached() {
        let cached = |status, own: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(own) = own {
                headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(own));
            }
            put(&mut headers, status, Protocol::Http, "localhost");
            headers.get(header::CACHE_CONTROL).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(cached(StatusCode::OK, None), "no-store");
        assert_eq!(cached(StatusCode::OK, Some("max-age=60")), "max-age=60");
        assert_eq!(cached(StatusCode::NOT_FOUND, Some("max-age=60")), "no-store");
    }
}
