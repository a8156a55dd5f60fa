//! The order of the table and the lookup in it.

use actix_web::http::Method;

use super::*;

#[test]
fn paths_and_methods_are_unique_and_sorted() {
    let names = |one: &Endpoint| (one.path, one.method);
    for endpoints in [ENDPOINTS, PAGES.endpoints] {
        assert!(endpoints.is_sorted_by(|a, b| names(a) < names(b)));
    }
    let all: Vec<_> = PATHS.endpoints().map(names).collect();
    assert!(all.is_sorted_by(|a, b| a < b));
}

#[test]
fn every_path_parameter_has_a_meaning_and_every_endpoint_a_summary() {
    for endpoint in PATHS.endpoints() {
        assert!(!endpoint.summary.is_empty() && !endpoint.summary.ends_with('.'));
        for name in endpoint.path_names() {
            let known = PATHS.meaning_of(name).is_some();
            assert!(known, "{name} in {}", endpoint.path);
        }
        let placeholders = endpoint.path.matches('{').count();
        assert_eq!(endpoint.path_names().count(), placeholders, "{}", endpoint.path);
    }
}

#[test]
fn an_endpoint_is_found_by_method_and_path() {
    let found = |path| PATHS.find(&Method::GET, path).map(|endpoint| endpoint.path);
    assert_eq!(found("/livez"), Some("/livez"));
    assert_eq!(found("/readyz/echo-server"), Some("/readyz/{operator}"));
    assert_eq!(found("/readyz/a/b"), None);
    assert!(PATHS.find(&Method::HEAD, "/livez").is_some());
    assert!(PATHS.find(&Method::DELETE, "/livez").is_none());
    assert_eq!(PATHS.methods_of("/livez"), "GET, HEAD");
}
