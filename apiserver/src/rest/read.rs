//! Get and list.

use std::sync::Arc;

use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::{
    accept::Representation,
    body::Body,
    call::Call,
    page::{self, Page},
    reply,
    selection::Selection,
};
use crate::{
    cluster::Cluster,
    log::{Object, ObjectKey},
    schema::{FieldError, FieldErrorKind},
    status::StatusError,
    table,
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
    let source = (&cluster.log, &*call.resource.storage);
    let found = page.find(source, &selection, page.version().or(version))?;
    let metadata = page::metadata(&found, selection.is_everything());
    render(call, &metadata, &found.entries)
}

fn render(
    call: &Call<'_>,
    metadata: &Value,
    chosen: &[(ObjectKey, Arc<Object>)],
) -> Result<Response<Body>, StatusError> {
    let objects = chosen.iter().map(|(_, object)| &**object);
    let decoded = || objects.clone().map(|object| call.resource.decode(object));
    let accepted = call.accepted()?;
    let body = match accepted.representation {
        Representation::Object => reply::list(call.resource, metadata, objects),
        Representation::Table => {
            let rows: Vec<Value> = decoded().collect();
            let options = call.table_options();
            table::render(call.resource, &rows, metadata, options).to_string().into()
        }
        Representation::PartialMetadata => {
            let items: Vec<Value> =
                decoded().map(|o| reply::partial("PartialObjectMetadata", &o)).collect();
            let list = json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": metadata,
                "items": items,
            });
            list.to_string().into()
        }
    };
    Ok(reply::json_as(accepted.format, StatusCode::OK, body))
}

/// The one version that a list must be of, if it must; checks the parameters.
fn exact_version(call: &Call<'_>) -> Result<Option<u64>, StatusError> {
    let version = call.query.resource_version()?;
    let limited = call.query.text("limit").is_some_and(|limit| limit != "0");
    let forbidden = |detail: String| {
        let kind = FieldErrorKind::Forbidden;
        let path = "resourceVersionMatch".to_owned();
        let error = FieldError { path, kind, value: None, detail };
        Err(StatusError::invalid("meta.k8s.io", "ListOptions", "", &[error]))
    };
    match (call.query.text("resourceVersionMatch"), version) {
        (Some(_), _) if call.query.text("continue").is_some() => {
            forbidden("resourceVersionMatch is forbidden when continue is provided".to_owned())
        }
        (Some(_), None) => forbidden(
            "resourceVersionMatch is forbidden unless resourceVersion is provided".to_owned(),
        ),
        (Some("Exact"), Some(0)) => forbidden(
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"".to_owned(),
        ),
        (Some("Exact"), version) => Ok(version),
        (Some("NotOlderThan"), _) | (None, None | Some(0)) => Ok(None),
        // The old meaning of a version together with a limit is exactly that version.
        (None, version) => Ok(version.filter(|_| limited)),
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
