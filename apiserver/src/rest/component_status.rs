//! `ComponentStatus`: what the real server finds where the parts of its control plane answer. Here is no scheduler,
//! and no controller manager beside the server.

use http::{HeaderMap, Response, header};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Body,
    accept::{self, Offer, Representation},
    fields, list_options, reply,
    route::ResourcePath,
};
use crate::{
    query::Query,
    selector::LabelSelector,
    status::StatusError,
    table::{self, Include, TableOptions},
};

pub(super) const PLURAL: &str = "componentstatuses";
const WARNING: &str = "v1 ComponentStatus is deprecated in v1.19+";
/// Each part with the port on which it would answer.
const MISSING: [(&str, u16); 2] = [("scheduler", 10_259), ("controller-manager", 10_257)];

/// Answers a request.
pub(super) fn answer(
    method: &str,
    path: &ResourcePath,
    query: &Query,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<Response<Body>, StatusError> {
    if path.namespace.is_some() || path.subresource.is_some() {
        return Err(StatusError::no_such_resource());
    }
    if method != "GET" {
        return Err(StatusError::method_not_allowed());
    }
    let answered = read(path, query, headers, now);
    reply::warned(answered, &[WARNING.to_owned()])
}

fn read(
    path: &ResourcePath,
    query: &Query,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<Response<Body>, StatusError> {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_list = path.name.is_none();
    let offer = Offer { is_custom: false, can_stream: is_list, is_watch: false };
    let accepted = accept::choose(accept, offer)?;
    if is_list {
        fields::check_common(&list_options::selected_fields(query)?)?;
    }
    if is_list && query.flag("watch") {
        return Err(StatusError::cannot_be_watched(PLURAL));
    }
    let labels = LabelSelector::parse(query.text("labelSelector").unwrap_or_default())
        .map_err(|error| StatusError::bad_request(error.to_string()))?;
    let of_name = |status: &Value| {
        path.name.as_deref().is_none_or(|name| status["metadata"]["name"] == *name)
    };
    let chosen: Vec<Value> =
        statuses().into_iter().filter(|it| of_name(it) && labels.matches(|_| None)).collect();
    let include = match query.text("includeObject") {
        Some("None") => Include::Nothing,
        Some("Object") => Include::Object,
        _ => Include::Metadata,
    };
    let value = match (path.name.as_deref(), accepted.representation) {
        (Some(name), _) if chosen.is_empty() => return Err(StatusError::no_component(name)),
        (_, Representation::Table(version)) => {
            let api_version = version.api_version();
            let options = TableOptions { headings: true, include, now, api_version };
            table::of_components(&chosen, options)
        }
        (Some(_), _) => chosen.into_iter().next().unwrap_or_default(),
        (None, _) => json!({
            "kind": "ComponentStatusList",
            "apiVersion": "v1",
            "metadata": {},
            "items": chosen.into_iter().map(without_type).collect::<Vec<_>>(),
        }),
    };
    Ok(reply::value_as(accepted.format, &value))
}

fn statuses() -> Vec<Value> {
    let missing = MISSING.into_iter().map(|(name, port)| {
        let why = format!(
            "Get \"https://127.0.0.1:{port}/healthz\": dial tcp 127.0.0.1:{port}: connect: connection refused"
        );
        status(name, "False", &why)
    });
    missing.chain([status("etcd-0", "True", "ok")]).collect()
}

fn status(name: &str, healthy: &str, message: &str) -> Value {
    json!({
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": { "name": name },
        "conditions": [{ "type": "Healthy", "status": healthy, "message": message }],
    })
}

/// Elements of a list do not repeat their type.
fn without_type(mut status: Value) -> Value {
    if let Some(fields) = status.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    status
}
