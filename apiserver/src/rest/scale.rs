//! The scale subresource: the number of replicas of an object, in one shape for all types.
//!
//! Server-side apply of a scale is not supported.

use http::Response;
use serde_json::{Value, json};

use super::{
    accept::Representation, body::Body, call::Call, decode, patch::Patch, place, reply,
    representation,
};
use crate::{
    cluster::Cluster,
    resource::{Resource, ScalePaths},
    status::StatusError,
    table::{self, path::Path},
    write::{self, Applied, Change, FieldValidation},
};

/// Answers a get.
pub(super) fn get(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let key = call.key();
    match cluster.read(call.resource, &key) {
        Some((_, object)) => answer(call, &object),
        None => Err(StatusError::not_found(&call.resource.id, &key.name)),
    }
}

/// Answers an update or a patch.
pub(super) fn change(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let options = call.write_options()?;
    let wanted = Wanted::of(call, options.validation)?;
    let mut change = |live: &Value| {
        let scale = wanted.after(&scale_of(call.resource, live))?;
        Ok(Change { next: scaled(call.resource, live, &scale)?, managed: Applied::No })
    };
    let written = write::update(
        cluster,
        call.resource,
        &call.key(),
        call.subresource,
        &options,
        &mut change,
    )?;
    answer(call, &call.resource.decode(&written.object))
}

fn answer(call: &Call<'_>, object: &Value) -> Result<Response<Body>, StatusError> {
    let (accepted, scale) = (call.accepted()?, scale_of(call.resource, object));
    let value = match accepted.representation {
        Representation::Object => scale,
        Representation::Table(_) => table::of_scale(&scale, call.table_options()),
        Representation::PartialMetadata(version) | Representation::PartialMetadataList(version) => {
            representation::partial(call.resource, version, &scale)
        }
    };
    Ok(reply::value_as(accepted.format, &value))
}

/// The change of the scale.
enum Wanted {
    Whole(Value),
    Patched(Patch),
}

impl Wanted {
    fn of(call: &Call<'_>, validation: FieldValidation) -> Result<Self, StatusError> {
        if call.method_is_put() {
            let whole = decode::scale(call.content_type(), call.body)?;
            place::check(call.path.namespace.as_deref(), call.path.name.as_deref(), &whole)?;
            return Ok(Self::Whole(whole));
        }
        match Patch::of(call, validation)? {
            Patch::Apply(_) => Err(StatusError::not_implemented("server-side apply of a scale")),
            patch => Ok(Self::Patched(patch)),
        }
    }

    fn after(&self, live: &Value) -> Result<Value, StatusError> {
        match self {
            Self::Whole(scale) => Ok(scale.clone()),
            Self::Patched(patch) => patch.applied_to(live).map(|(next, _)| next),
        }
    }
}

/// The scale of an object.
fn scale_of(resource: &Resource, object: &Value) -> Value {
    let paths = paths(resource);
    let found = |path: &str| Path::parse(path).first(object).cloned();
    let number = |path: &str| found(path).filter(Value::is_number).unwrap_or(json!(0));
    let mut status = json!({ "replicas": number(&paths.status_replicas) });
    if let Some(selector) = selector(resource, object, &paths) {
        status["selector"] = json!(selector);
    }
    let metadata = &object["metadata"];
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
            "creationTimestamp": metadata["creationTimestamp"],
        },
        "spec": { "replicas": number(&paths.spec_replicas) },
        "status": status,
    })
}

fn selector(resource: &Resource, object: &Value, paths: &ScalePaths) -> Option<String> {
    if let Some(path) = &paths.label_selector {
        return Path::parse(path).first(object)?.as_str().map(str::to_owned);
    }
    if resource.is_custom() {
        return None;
    }
    let labels = object["spec"]["selector"]["matchLabels"].as_object()?;
    let pairs = labels.iter().map(|(key, v)| format!("{key}={}", v.as_str().unwrap_or_default()));
    Some(pairs.collect::<Vec<_>>().join(","))
}

/// Built-in types have their replicas where most custom resources have them.
fn paths(resource: &Resource) -> ScalePaths {
    resource.scale.clone().unwrap_or_else(|| ScalePaths {
        spec_replicas: ".spec.replicas".to_owned(),
        status_replicas: ".status.replicas".to_owned(),
        label_selector: None,
    })
}

/// The object with the replicas of a scale, and with its preconditions.
fn scaled(resource: &Resource, live: &Value, scale: &Value) -> Result<Value, StatusError> {
    let Some(replicas) = scale["spec"]["replicas"].as_i64().filter(|replicas| *replicas >= 0)
    else {
        return Err(StatusError::bad_request("spec.replicas must be a number of at least 0"));
    };
    let mut next = live.clone();
    for field in ["resourceVersion", "uid"] {
        if let Some(given) = scale["metadata"][field].as_str().filter(|text| !text.is_empty()) {
            next["metadata"][field] = json!(given);
        }
    }
    let path = paths(resource).spec_replicas;
    let mut slot = &mut next;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        slot = &mut slot[step];
    }
    *slot = json!(replicas);
    Ok(next)
}
