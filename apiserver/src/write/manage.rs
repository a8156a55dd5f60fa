//! Tracks field managers: between the write paths and the `apply` module.

use serde_json::{Value, json};

use super::{Undecodable, WriteOptions};
use crate::{
    apply::{self, ApplyError, Request},
    builtin,
    certificates::is_signing_request,
    cluster::Cluster,
    resource::{Resource, Subresource},
    schema::Schema,
    status::{Result, StatusError},
};

/// Whether `managedFields` come from a server-side apply, and need no tracking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applied {
    /// They do.
    Yes,
    /// They do not: the changed fields must be tracked.
    No,
}

/// The result of a server-side apply.
pub(crate) fn apply_request(
    cluster: &Cluster,
    resource: &Resource,
    subresource: Subresource,
    live: Option<&Value>,
    applied: &Value,
    force: bool,
    options: &WriteOptions,
) -> Result<Value> {
    with_request(cluster, resource, subresource, options, |request| {
        apply::apply(live, applied, force, &resource.schema, request)
    })
    .map_err(|error| refusal(&error))
}

/// The result of a server-side apply to a scale.
pub(crate) fn apply_to_scale(
    cluster: &Cluster,
    live: &Value,
    applied: &Value,
    force: bool,
    schema: &Schema,
    options: &WriteOptions,
) -> Result<Value> {
    with_message_request(cluster, SCALE, options, |request| {
        apply::apply(Some(live), applied, force, schema, request)
    })
    .map_err(|error| refusal(&error))
}

/// A scale with the changes of the request's manager in `managedFields`.
pub(crate) fn track_scale(
    cluster: &Cluster,
    live: &Value,
    next: Value,
    schema: &Schema,
    options: &WriteOptions,
) -> Value {
    with_message_request(cluster, SCALE, options, |request| {
        apply::track_update(Some(live), next, schema, request)
    })
}

/// A request for a token with the fields of the request's manager in `managedFields`.
pub(crate) fn track_token_request(
    cluster: &Cluster,
    asked: Value,
    options: &WriteOptions,
) -> Value {
    let form = ("authentication.k8s.io/v1", "token");
    // As Go sees a request that asks for nothing.
    let empty = json!({
        "apiVersion": form.0,
        "kind": "TokenRequest",
        "metadata": {},
        "spec": { "audiences": null, "boundObjectRef": null, "expirationSeconds": null },
        "status": { "expirationTimestamp": null, "token": "" },
    });
    with_message_request(cluster, form, options, |request| {
        apply::track_update(Some(&empty), asked, builtin::token_request_schema(), request)
    })
}

/// The version and the subresource of what is sent to a subresource of another type.
type Form = (&'static str, &'static str);

const SCALE: Form = (apply::SCALE_VERSION, "scale");

fn with_message_request<T>(
    cluster: &Cluster,
    (api_version, subresource): Form,
    options: &WriteOptions,
    act: impl FnOnce(&Request<'_>) -> T,
) -> T {
    let now = cluster.clock.now_text();
    act(&Request {
        manager: &options.manager,
        api_version,
        subresource: Some(subresource),
        now: &now,
        reset: &[],
        empty: None,
        versions: None,
    })
}

/// The object with the changes of the request's manager in `managedFields`.
pub(super) fn track(
    cluster: &Cluster,
    resource: &Resource,
    subresource: Subresource,
    live: Option<&Value>,
    next: Value,
    options: &WriteOptions,
) -> Value {
    with_request(cluster, resource, subresource, options, |request| {
        apply::track_update(live, next, &resource.schema, request)
    })
}

fn with_request<T>(
    cluster: &Cluster,
    resource: &Resource,
    subresource: Subresource,
    options: &WriteOptions,
    act: impl FnOnce(&Request<'_>) -> T,
) -> T {
    let (api_version, now) = (resource.api_version(), cluster.clock.now_text());
    act(&Request {
        manager: &options.manager,
        api_version: &api_version,
        subresource: Some(subresource.name()).filter(|name| !name.is_empty()),
        now: &now,
        reset: reset_fields(resource, subresource),
        empty: resource.empty.as_ref(),
        versions: resource.versions(),
    })
}

/// Fields that have no manager because the endpoint ignores them.
fn reset_fields(resource: &Resource, subresource: Subresource) -> &'static [&'static str] {
    match subresource {
        Subresource::Main if is_signing_request(resource) => &["spec", "status"],
        Subresource::Main if resource.has_status => &["status"],
        Subresource::Approval => &["spec", "status.certificate"],
        Subresource::Status if is_signing_request(resource) => &["spec", "status.conditions"],
        Subresource::Main
        | Subresource::Scale
        | Subresource::EphemeralContainers
        | Subresource::Resize => &[],
        Subresource::Status if resource.is_custom() => &["metadata", "spec"],
        Subresource::Status | Subresource::Finalize => &["spec"],
    }
}

/// Why the result of an apply is no object of its type, although each value fits the schema.
pub(crate) fn unconvertible(applied: &Value, why: &Undecodable) -> String {
    if *why == Undecodable::TooLarge {
        return why.to_string();
    }
    let (whole, ty) = (apply::describe(applied), apply::describe_type(applied));
    format!(
        "failed to convert new object ({whole}) to proper version: \
         unable to convert unstructured object to {ty}: {why}"
    )
}

fn refusal(error: &ApplyError) -> StatusError {
    let message = error.to_string();
    match error {
        ApplyError::Conflicts(conflicts) => {
            let mut error = StatusError::apply_conflict(message);
            let cause = |cause: apply::Cause| {
                json!({
                    "reason": "FieldManagerConflict",
                    "message": cause.message,
                    "field": cause.field,
                })
            };
            let causes: Vec<Value> = conflicts.causes().into_iter().map(cause).collect();
            error.details = json!({ "causes": causes });
            error
        }
        _ if error.code() == 400 => StatusError::bad_request(message),
        _ => StatusError::internal(message),
    }
}
