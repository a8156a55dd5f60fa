//! The request of the HTTP API that a tool stands for: what its user needs the permission for.

use actix_web::http::Method;

use crate::web::{commands::ParentCommand, parents::ParentPath};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ApiRequest {
    pub(super) method: Method,
    /// Not encoded, as reviews name it.
    pub(super) path: String,
    pub(super) query: String,
}

const OPERATORS: &str = "/api/v1/operators";

impl ApiRequest {
    pub(super) fn operators() -> Self {
        Self::get(OPERATORS.to_owned())
    }

    pub(super) fn caches() -> Self {
        Self::get("/api/v1/cache".to_owned())
    }

    /// Of an operator, in one namespace or in all.
    pub(super) fn parents(operator: &str, namespace: Option<&str>) -> Self {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(namespace.map(|namespace| ("namespace", namespace)));
        Self { query: query.finish(), ..Self::get(format!("{OPERATORS}/{operator}/parents")) }
    }

    /// Of an operator, of all, and in one namespace or in all.
    pub(super) fn activity(operator: Option<&str>, namespace: Option<&str>) -> Self {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(operator.map(|operator| ("operator", operator)));
        query.extend_pairs(namespace.map(|namespace| ("namespace", namespace)));
        Self { query: query.finish(), ..Self::get("/api/v1/activity".to_owned()) }
    }

    pub(super) fn parent(parent: &ParentPath) -> Self {
        Self::get(path(parent, "parents"))
    }

    pub(super) fn map(parent: &ParentPath) -> Self {
        Self::get(path(parent, "map"))
    }

    pub(super) fn command(parent: &ParentPath, command: &ParentCommand) -> Self {
        let path = format!("{}/{}", path(parent, "parents"), command.name());
        Self { method: Method::POST, ..Self::get(path) }
    }

    fn get(path: String) -> Self {
        Self { method: Method::GET, path, query: String::new() }
    }
}

fn path(ParentPath { operator, namespace, name }: &ParentPath, of: &str) -> String {
    match namespace {
        Some(namespace) => format!("{OPERATORS}/{operator}/{of}/{namespace}/{name}"),
        None => format!("{OPERATORS}/{operator}/{of}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_of_the_http_api() {
        let parent = |namespace: Option<&str>| ParentPath {
            operator: "op".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: "a".to_owned(),
        };
        let shown = |it: ApiRequest| format!("{} {} {}", it.method, it.path, it.query);
        let of = "/api/v1/operators/op/parents";
        for (request, expected) in [
            (ApiRequest::operators(), "GET /api/v1/operators ".to_owned()),
            (ApiRequest::parents("op", None), format!("GET {of} ")),
            (ApiRequest::parents("op", Some("a&b")), format!("GET {of} namespace=a%26b")),
            (ApiRequest::parent(&parent(Some("ns"))), format!("GET {of}/ns/a ")),
            (ApiRequest::map(&parent(Some("ns"))), "GET /api/v1/operators/op/map/ns/a ".to_owned()),
            (
                ApiRequest::command(&parent(Some("ns")), &ParentCommand::Resume),
                format!("POST {of}/ns/a/resume "),
            ),
            (
                ApiRequest::command(&parent(None), &ParentCommand::Sync),
                format!("POST {of}/a/sync "),
            ),
            (
                ApiRequest::activity(Some("op"), Some("a&b")),
                "GET /api/v1/activity operator=op&namespace=a%26b".to_owned(),
            ),
            (ApiRequest::activity(None, None), "GET /api/v1/activity ".to_owned()),
        ] {
            assert_eq!(shown(request), expected);
        }
    }
}
