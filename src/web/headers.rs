//! The headers that keep a browser from doing more with an answer than to show it.

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

/// Data is shown, never run.
const DATA: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page uses what this server sends, and nothing that stands in the page itself: what got into
/// it by mistake does not run.
const PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                    connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A browser that may name the page nowhere names no origin either when it sends the forms of it.
const PAGE_REFERRER: &str = "same-origin";
const DATA_REFERRER: &str = "no-referrer";

/// A year.
const ONLY_TLS: &str = "max-age=31536000";

/// Puts them on an answer. What is cached under which name is up to who answers; by default
/// nothing is.
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

/// Through a port-forward every server is `localhost`: a browser that remembered this one to be
/// TLS only would not reach the next one.
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
    fn data_runs_nothing_and_a_page_only_what_this_server_sends() {
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
    fn only_tls_is_promised_only_over_tls_and_never_for_the_name_that_all_share() {
        let promises = |protocol, host| {
            let headers = put_on("text/plain", protocol, host);
            headers.contains_key(header::STRICT_TRANSPORT_SECURITY)
        };
        assert!(promises(Protocol::Https, "ops.example:8443"));
        assert!(!promises(Protocol::Http, "ops.example"));
        assert!(!promises(Protocol::Https, "localhost:8080"));
    }

    #[test]
    fn nothing_is_cached_unless_it_says_so_itself_and_is_no_error() {
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
