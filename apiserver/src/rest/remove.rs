//! Delete.

use http::Response;
use serde_json::{Value, json};

use super::{
    body::Body,
    call::Call,
    decode, list,
    options::dry_run_error,
    page::{self, Page},
    reply,
    selection::Selection,
};
use crate::{
    cluster::Cluster,
    log::Object,
    query::Query,
    schema::{FieldError, FieldErrorKind},
    status::StatusError,
    write::{self, DeleteOptions, Deleted, Propagation},
};

/// Answers a delete.
pub(super) fn delete(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let options = options(call)?;
    let answered = match write::delete(cluster, call.resource, &call.key(), &options) {
        Ok(Deleted::Held(object)) => reply::object(call, &object),
        Ok(Deleted::Gone(object)) if write::returns_deleted(call.resource) => {
            reply::object(call, &object)
        }
        Ok(Deleted::Gone(object)) => gone(call, &object),
        Err(error) => Err(error),
    };
    reply::warned(answered, &write::warnings_of_deletion(call.resource, &options))
}

/// Answers a delete of a collection with the deleted objects.
pub(super) fn delete_collection(
    cluster: &Cluster,
    call: &Call<'_>,
) -> Result<Response<Body>, StatusError> {
    let options = options(call)?;
    let selection = Selection::of(call)?;
    let source = (&*cluster.log, &*call.resource.storage);
    let page = Page::of(call)?;
    let found = page.find(source, &selection, page.version())?;
    for (key, _) in &found.entries {
        match write::delete(cluster, call.resource, key, &options) {
            Err(error) if error.code != 404 => return Err(error),
            _ => {}
        }
    }
    let metadata = page::metadata(call.resource, &found, selection.is_everything());
    let answer = list::render(call, &metadata, found.entries);
    reply::warned(answer, &write::warnings_of_deletion(call.resource, &options))
}

fn gone(call: &Call<'_>, object: &Object) -> Result<Response<Body>, StatusError> {
    let id = &call.resource.id;
    let mut details = json!({
        "name": call.path.name,
        "kind": id.plural,
        "uid": &*object.meta.uid,
    });
    if !id.group.is_empty() {
        details["group"] = json!(id.group);
    }
    let body = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    });
    Ok(reply::value_as(call.accepted()?.format, &body))
}

fn options(call: &Call<'_>) -> Result<DeleteOptions, StatusError> {
    let given = decode::delete_options(call.content_type(), call.body)?;
    let stages: Vec<&str> = if call.body.is_empty() {
        call.query.texts("dryRun")
    } else {
        given["dryRun"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let options = options_of(&given, &stages, call.query)?;
    Ok(DeleteOptions { admission: call.deletion(&given, !stages.is_empty()), ..options })
}

/// The options that an object and a query give.
pub(super) fn options_of(
    given: &Value,
    stages: &[&str],
    query: &Query,
) -> Result<DeleteOptions, StatusError> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let policy = text(&given["propagationPolicy"])
        .or_else(|| query.text("propagationPolicy").map(str::to_owned));
    let orphan = given["orphanDependents"].as_bool().or(query.choice("orphanDependents"));
    if let Some(error) = dry_run_error(stages) {
        return Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[error]));
    }
    Ok(DeleteOptions {
        uid: text(&given["preconditions"]["uid"]),
        resource_version: text(&given["preconditions"]["resourceVersion"]),
        propagation: propagation(policy.as_deref(), orphan)?,
        grace: given["gracePeriodSeconds"]
            .as_i64()
            .or_else(|| query.text("gracePeriodSeconds")?.parse().ok()),
        dry_run: !stages.is_empty(),
        admission: None,
    })
}

fn propagation(
    policy: Option<&str>,
    orphan: Option<bool>,
) -> Result<Option<Propagation>, StatusError> {
    match (policy, orphan) {
        (Some("Background"), None) | (None, Some(false)) => Ok(Some(Propagation::Background)),
        (Some("Foreground"), None) => Ok(Some(Propagation::Foreground)),
        (Some("Orphan"), None) | (None, Some(true)) => Ok(Some(Propagation::Orphan)),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => refuse(
            FieldErrorKind::Invalid,
            policy,
            "orphanDependents and deletionPropagation cannot be both set",
        ),
        (Some(_), None) => refuse(
            FieldErrorKind::NotSupported,
            policy,
            "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
        ),
    }
}

fn refuse(
    kind: FieldErrorKind,
    policy: Option<&str>,
    detail: &str,
) -> Result<Option<Propagation>, StatusError> {
    let error = FieldError {
        path: "propagationPolicy".to_owned(),
        kind,
        value: policy.map(|policy| format!("\"{policy}\"")),
        detail: detail.to_owned(),
    };
    Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[error]))
}
