//! Links with percent-encoded names.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    board::{ParentPhase, Place},
    object::{K8sType, ObjectKey},
    web::status::Refused,
};

/// All characters that are not unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn operator(name: &str) -> String {
    format!("/ui/operators/{}", encoded(name))
}

pub(super) fn in_phase(operator_name: &str, phase: ParentPhase) -> String {
    format!("{}?phase={}", operator(operator_name), phase.name())
}

pub(super) fn parent(operator_name: &str, key: &ObjectKey) -> String {
    format!("{}/parents/{}", operator(operator_name), path_of(key))
}

pub(super) fn parent_with(
    operator_name: &str,
    key: &ObjectKey,
    has_diff: bool,
    has_events: bool,
) -> String {
    let asked = match (has_diff, has_events) {
        (false, false) => "",
        (true, false) => "?diff",
        (false, true) => "?events",
        (true, true) => "?diff&events",
    };
    format!("{}{asked}", parent(operator_name, key))
}

/// The map of a parent, with the object beside it that has this id; without one if it is empty.
pub(super) fn map(operator_name: &str, key: &ObjectKey, at: &str, has_diff: bool) -> String {
    let path = format!("{}/map/{}", operator(operator_name), path_of(key));
    let diff = if has_diff { "true" } else { "" };
    format!("{path}{}", query(&[("at", at), ("diff", diff)]))
}

pub(super) fn operator_api(name: &str) -> String {
    format!("/api/v1/operators/{}", encoded(name))
}

pub(super) fn parent_api(operator_name: &str, key: &ObjectKey) -> String {
    format!("{}/parents/{}", operator_api(operator_name), path_of(key))
}

pub(super) fn cache(ty: &K8sType) -> String {
    format!("/ui/cache/{}", encoded(&ty.resource_name()))
}

pub(super) fn object(ty: &K8sType, key: &ObjectKey) -> String {
    format!("{}/{}", cache(ty), path_of(key))
}

pub(super) fn named_object(ty: &str, namespace: Option<&str>, name: &str) -> String {
    format!("/ui/cache/{}/{}", encoded(ty), path_of(&ObjectKey::new(namespace, name)))
}

pub(super) fn events(operator_name: &str, key: Option<&ObjectKey>) -> String {
    let namespace = key.and_then(|key| key.namespace.as_deref());
    let name = key.map(|key| &*key.name);
    let parameters = [("namespace", namespace), ("name", name)];
    let parameters = parameters.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut path = format!("/api/v1/events?operator={}", encoded(operator_name));
    for (name, value) in parameters {
        path.extend(["&", name, "=", &encoded(value)]);
    }
    path
}

pub(super) fn events_in(operator_name: &str, namespace: &str) -> String {
    format!("{}&namespace={}", events(operator_name, None), encoded(namespace))
}

pub(super) fn in_namespace(operator_name: &str, namespace: &str) -> String {
    format!("{}/namespaces/{}", operator(operator_name), encoded(namespace))
}

/// What happened to the parents of an operator, of one namespace where that is given.
pub(super) fn activity(operator_name: &str, namespace: &str) -> String {
    format!("/ui/activity{}", query(&[("operator", operator_name), ("namespace", namespace)]))
}

/// A query of the parameters that are not empty.
pub(super) fn query(parameters: &[(&str, &str)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    let given: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

/// The place after which a page of parents starts, from its `continue`; `None` for the first page.
pub(super) fn place(token: &str) -> Result<Option<Place>, Refused> {
    if token.is_empty() {
        return Ok(None);
    }
    let parts = token.split_once('~');
    let place = parts
        .and_then(|(rank, key)| Some(Place { rank: rank.parse().ok()?, key: key.parse().ok()? }));
    place.map(Some).ok_or_else(invalid_token)
}

pub(super) fn token(Place { rank, key }: &Place) -> String {
    format!("{rank}~{key}")
}

/// The key after which a page starts, from its `continue`; `None` for the first page.
pub(super) fn after(token: &str) -> Result<Option<ObjectKey>, Refused> {
    let key = Some(token).filter(|token| !token.is_empty()).map(str::parse).transpose();
    key.map_err(|_| invalid_token())
}

fn invalid_token() -> Refused {
    Refused::BadRequest("continue: the token is invalid; open the first page again".to_owned())
}

pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn path_of(key: &ObjectKey) -> String {
    let namespace = key.namespace.as_deref().map(|namespace| format!("{}/", encoded(namespace)));
    format!("{}{}", namespace.unwrap_or_default(), encoded(&key.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_paths_are_encoded() {
        let key = ObjectKey::namespaced("ns", "a/../b?c#d\"<e>&f=g h");
        let path = parent("op", &key);
        assert_eq!(path, "/ui/operators/op/parents/ns/a%2F..%2Fb%3Fc%23d%22%3Ce%3E%26f%3Dg%20h");
        assert_eq!(
            events("op", Some(&ObjectKey::cluster("a&b"))),
            "/api/v1/events?operator=op&name=a%26b"
        );
    }

    #[test]
    fn a_token_of_a_page_reads_back_as_the_same_place() {
        for key in ["a", "ns/a", "system:node~1"] {
            let place = Place { rank: 7, key: key.parse().unwrap() };
            assert_eq!(super::place(&token(&place)).unwrap(), Some(place));
        }
        assert_eq!(place("").unwrap(), None);
        for bad in ["a", "ns/a", "x~a", "-1~a", "7~", "7~a/b/c"] {
            assert!(place(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_query_contains_only_parameters_with_values() {
        assert_eq!(
            query(&[("q", "a b"), ("phase", ""), ("namespace", "n")]),
            "?q=a%20b&namespace=n"
        );
        assert_eq!(query(&[("q", "")]), "");
    }
}
