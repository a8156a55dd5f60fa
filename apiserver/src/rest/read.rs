//! Get and list.

use http::Response;

use super::{
    body::Body,
    call::Call,
    list,
    page::{self, Page},
    reply,
    selection::Selection,
};
use crate::{
    cluster::Cluster,
    query::Query,
    schema::{FieldError, FieldErrorKind},
    status::StatusError,
};

/// Answers a get.
pub(super) fn get(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let key = call.key();
    match cluster.log.get(&call.resource.storage, &key) {
        Some(object) => reply::object(call, &object),
        None => Err(StatusError::not_found(&call.resource.id, &key.name)),
    }
}

/// Answers a list.
pub(super) fn list(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let selection = Selection::of(call)?;
    let version = exact_version(call)?;
    let page = Page::of(call)?;
    let source = (&*cluster.log, &*call.resource.storage);
    let found = page.find(source, &selection, page.version().or(version))?;
    let metadata = page::metadata(call.resource, &found, selection.is_everything());
    list::render(call, &metadata, found.entries)
}

/// The one version that a list must be of, if it must.
fn exact_version(call: &Call<'_>) -> Result<Option<u64>, StatusError> {
    let version = call.query.resource_version()?;
    let limited = call.query.text("limit").is_some_and(|limit| limit != "0");
    Ok(match (call.query.text("resourceVersionMatch"), version) {
        (Some("Exact"), version) => version,
        // The old meaning of a version together with a limit is exactly that version.
        (None, version) => version.filter(|version| limited && *version != 0),
        (Some(_), _) => None,
    })
}

/// Checks how the version of a list is to be matched, before the version itself is read.
pub(super) fn check_match(query: &Query) -> Result<(), StatusError> {
    let version = query.text("resourceVersion");
    let forbidden = |detail: String| {
        let kind = FieldErrorKind::Forbidden;
        let path = "resourceVersionMatch".to_owned();
        let error = FieldError { path, kind, value: None, detail };
        Err(StatusError::invalid("meta.k8s.io", "ListOptions", "", &[error]))
    };
    match (query.text("resourceVersionMatch"), version) {
        (Some(_), _) if query.text("continue").is_some() => {
            forbidden("resourceVersionMatch is forbidden when continue is provided".to_owned())
        }
        (Some(_), None) => forbidden(
            "resourceVersionMatch is forbidden unless resourceVersion is provided".to_owned(),
        ),
        (Some("Exact"), Some("0")) => forbidden(
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"".to_owned(),
        ),
        (Some("Exact" | "NotOlderThan") | None, _) => Ok(()),
        (Some(other), _) => {
            let error = FieldError {
                path: "resourceVersionMatch".to_owned(),
                kind: FieldErrorKind::NotSupported,
                value: Some(format!("\"{other}\"")),
                detail: "supported values: \"Exact\", \"NotOlderThan\"".to_owned(),
            };
            Err(StatusError::invalid("meta.k8s.io", "ListOptions", "", &[error]))
        }
    }
}
