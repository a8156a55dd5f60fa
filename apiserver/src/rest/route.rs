//! Parses a path. Does not know whether a resource exists.

use crate::status::StatusError;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/healthz`, `/livez`, `/readyz` and what is below them.
    Health(String),
    /// `/metrics`.
    Metrics,
    /// `/version`.
    Version,
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/{group}`.
    Group(String),
    /// `/api/v1`, `/apis/{group}/{version}`.
    GroupVersion(String, String),
    /// `/openapi/v2`.
    OpenApiVersion2,
    /// `/openapi/v3`.
    OpenApiIndex,
    /// `/openapi/v3/api/v1`, `/openapi/v3/apis/{group}/{version}` and the like.
    OpenApi(String),
    /// `/.well-known/openid-configuration`.
    OpenIdConfiguration,
    /// `/openid/v1/jwks`.
    TokenKeys,
    /// Objects.
    Objects(ResourcePath),
    /// The deprecated path of a watch, of one object if it has a name.
    Watch(ResourcePath),
    /// Nothing that is served.
    Unknown,
}

/// The path of a collection, an object or a subresource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// Whether the path itself says that it is watched.
    pub(crate) watched: bool,
}

impl ResourcePath {
    /// Refuses names that would change the path.
    pub(super) fn check_name(&self) -> Result<(), StatusError> {
        let name = self.name.as_deref().unwrap_or_default();
        let why = match name {
            "." => "may not be '.'",
            ".." => "may not be '..'",
            name if name.contains('%') => "may not contain '%'",
            _ => return Ok(()),
        };
        Err(StatusError::bad_request(format!("Name parameter invalid: {name:?}: {why}")))
    }
}

/// What the path leads to.
pub(crate) fn parse(path: &str) -> Route {
    // An escaped slash separates too. Segments may be empty, but not at the end.
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    let path = path.strip_prefix('/').unwrap_or(&path).trim_end_matches('/');
    let segments: Vec<&str> = path.split('/').collect();
    match segments.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => Route::Health(segments.join("/")),
        ["metrics"] => Route::Metrics,
        ["version"] => Route::Version,
        ["api"] => Route::CoreVersions,
        ["api", version] => Route::GroupVersion(String::new(), (*version).to_owned()),
        ["api", version, rest @ ..] => objects("", version, rest),
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group((*group).to_owned()),
        ["apis", group, version] => Route::GroupVersion((*group).to_owned(), (*version).to_owned()),
        ["apis", group, version, rest @ ..] => objects(group, version, rest),
        ["openapi", "v2"] => Route::OpenApiVersion2,
        ["openapi", "v3"] => Route::OpenApiIndex,
        ["openapi", "v3", rest @ ..] => Route::OpenApi(rest.join("/")),
        [".well-known", "openid-configuration"] => Route::OpenIdConfiguration,
        ["openid", "v1", "jwks"] => Route::TokenKeys,
        _ => Route::Unknown,
    }
}

fn objects(group: &str, version: &str, rest: &[&str]) -> Route {
    match rest {
        ["watch"] => Route::Unknown,
        ["watch", rest @ ..] => {
            Route::Watch(ResourcePath { watched: true, ..resource_path(group, version, rest) })
        }
        _ => Route::Objects(resource_path(group, version, rest)),
    }
}

fn resource_path(group: &str, version: &str, rest: &[&str]) -> ResourcePath {
    let (namespace, rest) = match rest {
        // `namespaces/x` and its subresources are the namespace itself.
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => (None, rest),
        // No namespace is every namespace.
        ["namespaces", "", rest @ ..] => (None, rest),
        ["namespaces", namespace, rest @ ..] => (Some((*namespace).to_owned()), rest),
        _ => (None, rest),
    };
    let text = |at: usize| rest.get(at).map(|s| (*s).to_owned());
    ResourcePath {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        plural: text(0).unwrap_or_default(),
        name: text(1),
        subresource: rest.get(2..).filter(|rest| !rest.is_empty()).map(|rest| rest.join("/")),
        watched: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ResourcePath {
        match parse(text) {
            Route::Objects(path) => path,
            other => panic!("{text} led to {other:?}"),
        }
    }

    #[test]
    fn a_namespace_is_an_object_and_contains_objects() {
        let namespace = path("/api/v1/namespaces/a");
        assert_eq!(
            (namespace.plural.as_str(), namespace.name.as_deref()),
            ("namespaces", Some("a"))
        );
        let status = path("/api/v1/namespaces/a/status");
        assert_eq!(status.subresource.as_deref(), Some("status"));
        let pods = path("/api/v1/namespaces/a/pods");
        assert_eq!((pods.plural.as_str(), pods.namespace.as_deref()), ("pods", Some("a")));
        let scale = path("/apis/apps/v1/namespaces/a/deployments/b/scale");
        assert_eq!(
            (scale.name.as_deref(), scale.subresource.as_deref()),
            (Some("b"), Some("scale"))
        );
    }

    #[test]
    fn a_watch_may_be_in_the_path() {
        let Route::Watch(pod) = parse("/api/v1/watch/namespaces/a/pods/b") else {
            panic!("it is a watch")
        };
        assert_eq!((pod.plural.as_str(), pod.name.as_deref()), ("pods", Some("b")));
        let Route::Watch(namespace) = parse("/api/v1/watch/namespaces/a") else {
            panic!("it is a watch")
        };
        assert_eq!((namespace.namespace, namespace.name.as_deref()), (None, Some("a")));
    }

    #[test]
    fn names_are_decoded() {
        let role = path("/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab");
        assert_eq!(role.name.as_deref(), Some("a:b"));
    }

    #[test]
    fn other_paths_are_unknown() {
        for path in ["/", "/nope", "//api/v1/namespaces", "/..", ""] {
            assert_eq!(parse(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn escaped_and_empty_segments_are_segments() {
        assert_eq!(path("/api/v1/namespaces/a/pods/b%2fc").subresource.as_deref(), Some("c"));
        assert_eq!(path("/api/v1/namespaces/a/pods/%2e%2e").name.as_deref(), Some(".."));
        assert_eq!(path("/api/v1/namespaces//pods/").namespace, None);
        assert_eq!(path("/api/v1//namespaces").plural, "");
        let deep = path("/api/v1/namespaces/a/pods/b/c/d");
        assert_eq!(deep.subresource.as_deref(), Some("c/d"));
    }

    #[test]
    fn any_text_leads_somewhere() {
        const TOKENS: [&str; 16] = [
            "/",
            "api",
            "apis",
            "v1",
            "namespaces",
            "watch",
            "pods",
            "a",
            "%2f",
            "%",
            "%00",
            "..",
            "//",
            "status",
            "openapi",
            "healthz",
        ];
        let parser = |text: &str| drop(parse(text));
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
