//! Delete.

use http::{Response, StatusCode};
use serde_json::json;

use super::{body::Body, call::Call, delete_options, list, read, reply};
use crate::{
    cluster::Cluster,
    log::Object,
    status::StatusError,
    write::{self, DeleteOptions, Deleted},
};

/// Answers a delete.
pub(super) fn delete(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let options = delete_options::of(call)?;
    let answered = match write::delete(cluster, call.resource, &call.key(), &options) {
        Ok(Deleted::Held(object)) => held(call, &object, &options),
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
    let options = delete_options::of(call)?;
    let (metadata, found) = read::find(cluster, call)?;
    for (key, _) in &found.entries {
        match write::delete(cluster, call.resource, key, &options) {
            Err(error) if error.code != 404 => return Err(error),
            _ => {}
        }
    }
    let answer = list::render(call, &metadata, found.entries);
    reply::warned(answer, &write::warnings_of_deletion(call.resource, &options))
}

/// An object that is still there. To those who said that its dependents go, it is accepted only.
fn held(
    call: &Call<'_>,
    object: &Object,
    options: &DeleteOptions,
) -> Result<Response<Body>, StatusError> {
    let mut response = reply::object(call, object)?;
    if options.says_dependents_go {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    Ok(response)
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
