//! The scale subresource: the number of replicas of an object, in one shape for all types.

use http::Response;
use serde_json::{Value, json};

use super::{
    accept::Representation, body::Body, call::Call, change, decode, kind, patch, patch::Patch,
    place, reply, representation,
};
use crate::{
    admission::Operation,
    apply::{self, ReplicasPaths},
    builtin,
    cluster::Cluster,
    resource::{Resource, ScalePaths},
    schema::{FieldError, FieldPath},
    selector,
    status::StatusError,
    table,
    write::{self, Applied, Change, FieldValidation, WriteOptions},
};

/// Answers a get.
pub(super) fn get(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let key = call.key();
    match cluster.read(call.resource, &key) {
        Some((_, object)) if call.resource.is_custom() && !has_replicas(call.resource, &object) => {
            let path = paths(call.resource).spec_replicas;
            let why = format!("the spec replicas field {path:?} does not exist");
            Err(StatusError::internal_error(&why))
        }
        Some((_, object)) => answer(call, &object),
        None => Err(StatusError::not_found(&call.resource.id, &key.name)),
    }
}

/// Answers an update or a patch.
pub(super) fn change(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let mut options = call.write_options()?;
    // It sees the scale, and not the object behind it.
    let admission = options.admission.take();
    let wanted = Wanted::of(call, options.validation)?;
    let versions = versions(cluster, call.resource);
    let version = call.resource.api_version();
    let paths = ReplicasPaths { paths: versions, version: &version };
    let mut change = |live: &Value| {
        wanted.check_uid(call, live, &options)?;
        let mut before = scale_of(call.resource, live);
        set_managers(&mut before, apply::managers_of_scale(live, &paths));
        let mut scale = wanted.after(cluster, call, &before, &options)?;
        if let Some(admission) = &admission {
            let (update, before) = (Operation::Update, Some(&before));
            admission.mutate(cluster, update, &mut scale, before, &|_, _| Ok(()))?;
            admission.validate(cluster, update, &scale, before)?;
        }
        let mut next = scaled(call.resource, live, &scale)?;
        set_managers(&mut next, apply::managers_of_parent(live, &scale, &paths));
        Ok(Change { next, managed: Applied::Yes })
    };
    let key = call.key();
    let written =
        write::update(cluster, call.resource, &key, call.subresource, &options, &mut change);
    let answered = written.and_then(|written| answer(call, &call.resource.decode(&written.object)));
    reply::warned(answered, &admission.map(|it| it.warnings()).unwrap_or_default())
}

fn answer(call: &Call<'_>, object: &Value) -> Result<Response<Body>, StatusError> {
    let (accepted, scale) = (call.accepted()?, scale_of(call.resource, object));
    let value = match accepted.representation {
        Representation::Object => scale,
        Representation::Table(_) => table::of_scale(&scale, call.table_options()?),
        Representation::PartialMetadata(version) | Representation::PartialMetadataList(version) => {
            representation::partial(call.resource, version, &scale)
        }
    };
    Ok(reply::value_as(accepted.format, &value))
}

/// What the real server answers to an apply to a scale of a custom resource whose replicas nobody manages.
const UNTRACKED: &str = "failed to create manager for existing fields: failed to convert live object \
                         (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to \
                         an invalid group/version: autoscaling/v1";

fn is_untracked_custom(call: &Call<'_>, live: &Value) -> bool {
    call.resource.is_custom() && live["metadata"]["managedFields"].is_null()
}

/// The change of the scale.
enum Wanted {
    Whole(Value),
    Patched(Patch),
}

impl Wanted {
    fn of(call: &Call<'_>, validation: FieldValidation) -> Result<Self, StatusError> {
        if call.method_is_put() {
            let expected = (apply::SCALE_VERSION, "Scale");
            let whole = decode::message(expected, call.content_type(), call.body)?;
            let given = |field: &str| whole[field].as_str().unwrap_or_default();
            let is_other = !matches!(given("apiVersion"), "" | apply::SCALE_VERSION);
            if is_other || !matches!(given("kind"), "" | "Scale") {
                return Err(kind::other_message(given("apiVersion"), given("kind"), "Scale"));
            }
            place::check(call.path.namespace.as_deref(), call.path.name.as_deref(), &whole)?;
            return Ok(Self::Whole(whole));
        }
        Patch::of(call, validation).map(Self::Patched)
    }

    /// Whoever sends a whole scale may name the object by its uid.
    fn check_uid(
        &self,
        call: &Call<'_>,
        live: &Value,
        options: &WriteOptions,
    ) -> Result<(), StatusError> {
        match self {
            Self::Whole(scale) => change::check_uid(call, options, live, scale),
            Self::Patched(_) => Ok(()),
        }
    }

    /// The next scale, with its managers.
    fn after(
        &self,
        cluster: &Cluster,
        call: &Call<'_>,
        live: &Value,
        options: &WriteOptions,
    ) -> Result<Value, StatusError> {
        let schema = builtin::scale_schema();
        let next = match self {
            Self::Patched(Patch::Apply(_)) if is_untracked_custom(call, live) => {
                return Err(StatusError::internal(UNTRACKED));
            }
            Self::Patched(Patch::Apply(body)) => {
                let (applied, _) = patch::applied(body)?;
                let force = call.query.flag("force");
                return write::apply_to_scale(cluster, live, &applied, force, schema, options);
            }
            Self::Whole(scale) => scale.clone(),
            Self::Patched(patch) => readable(patch.applied_to(live)?.0)?,
        };
        // No replicas are not written, and so nobody manages them.
        let is_zero = next["spec"]["replicas"] == 0;
        let mut seen = next;
        if is_zero && let Some(spec) = seen["spec"].as_object_mut() {
            spec.remove("replicas");
        }
        let mut tracked = write::track_scale(cluster, live, seen, schema, options);
        if is_zero {
            tracked["spec"]["replicas"] = json!(0);
        }
        Ok(tracked)
    }
}

/// The result of a patch, if it is a scale.
fn readable(next: Value) -> Result<Value, StatusError> {
    let read = |message| builtin::read_message(message, &mut next.clone()).map(drop);
    let read = builtin::message("Scale").map_or(Ok(()), read);
    read.map_err(|why| kind::unreadable(&next, &why))?;
    Ok(next)
}

/// The scale of an object.
fn scale_of(resource: &Resource, object: &Value) -> Value {
    let paths = paths(resource);
    let found = |path: &str| ScalePaths::value(object, path).cloned();
    let number = |path: &str| found(path).filter(Value::is_number).unwrap_or(json!(0));
    let mut status = json!({ "replicas": number(&paths.status_replicas) });
    if let Some(selector) = selector_of(resource, object, &paths) {
        status["selector"] = json!(selector);
    }
    let mut spec = json!({});
    // Zero is not written.
    let replicas = number(&paths.spec_replicas);
    if replicas != 0 {
        spec["replicas"] = replicas;
    }
    let metadata = &object["metadata"];
    json!({
        "kind": "Scale",
        "apiVersion": apply::SCALE_VERSION,
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
            "creationTimestamp": metadata["creationTimestamp"],
        },
        "spec": spec,
        "status": status,
    })
}

fn selector_of(resource: &Resource, object: &Value, paths: &ScalePaths) -> Option<String> {
    if let Some(path) = &paths.label_selector {
        let selector = ScalePaths::value(object, path)?.as_str()?;
        return (!selector.is_empty()).then(|| selector.to_owned());
    }
    let spec = &object["spec"]["selector"];
    if resource.is_custom() || !spec.is_object() {
        return None;
    }
    // Replication controllers have the labels alone.
    let labels = if resource.id.group.is_empty() { spec } else { &spec["matchLabels"] };
    Some(selector::of_label_selector(labels, &spec["matchExpressions"]))
}

/// Built-in types have their replicas where most custom resources have them.
fn paths(resource: &Resource) -> ScalePaths {
    resource.scale.clone().unwrap_or_else(|| ScalePaths {
        spec_replicas: ".spec.replicas".to_owned(),
        status_replicas: ".status.replicas".to_owned(),
        label_selector: None,
    })
}

/// The names on the way to the replicas.
fn names(path: &str) -> Vec<String> {
    ScalePaths::names(path).map(str::to_owned).collect()
}

/// The versions of a type, with the way to the replicas of those that have a scale.
fn versions(cluster: &Cluster, resource: &Resource) -> Vec<(String, Vec<String>)> {
    let resources = cluster.registry.snapshot();
    let same = resources.iter().filter(|other| other.id == resource.id);
    let names = |other: &Resource| match (&other.scale, other.has_scale()) {
        (Some(paths), _) => names(&paths.spec_replicas),
        (None, true) => names(".spec.replicas"),
        (None, false) => Vec::new(),
    };
    same.map(|other| (other.api_version(), names(other))).collect()
}

fn set_managers(object: &mut Value, managers: Option<Value>) {
    let metadata = write::metadata_mut(object);
    match managers {
        Some(managers) => metadata.insert("managedFields".to_owned(), managers),
        None => metadata.remove("managedFields"),
    };
}

/// The object with the replicas of a scale, and with its preconditions.
fn scaled(resource: &Resource, live: &Value, scale: &Value) -> Result<Value, StatusError> {
    let mut next = live.clone();
    let given = |field: &str| scale["metadata"][field].as_str().unwrap_or_default();
    if resource.is_custom() {
        if !given("resourceVersion").is_empty() {
            next["metadata"]["resourceVersion"] = json!(given("resourceVersion"));
        }
    } else {
        next["metadata"]["resourceVersion"] = json!(given("resourceVersion"));
    }
    let is_unset = resource.is_custom() && !has_replicas(resource, live);
    let replicas = replicas(resource, scale, is_unset)?;
    set_replicas(&mut next, &paths(resource).spec_replicas, replicas)?;
    Ok(next)
}

/// Sets the replicas; what is missing above them is made.
fn set_replicas(object: &mut Value, path: &str, replicas: i64) -> Result<(), StatusError> {
    let names: Vec<&str> = ScalePaths::names(path).collect();
    let mut slot = object;
    for (at, name) in names.iter().enumerate() {
        let members = slot.as_object_mut().ok_or_else(|| no_map(&names[..at]))?;
        slot = members.entry(*name).or_insert_with(|| json!({}));
    }
    *slot = json!(replicas);
    Ok(())
}

fn no_map(names: &[&str]) -> StatusError {
    let path = names.join(".");
    let why = "is not a map[string]interface{}";
    StatusError::internal(format!("value cannot be set because .{path} {why}"))
}

/// Whether the replicas of a custom resource have been set.
fn has_replicas(resource: &Resource, object: &Value) -> bool {
    let found = ScalePaths::value(object, &paths(resource).spec_replicas);
    found.is_some_and(Value::is_number)
}

fn replicas(resource: &Resource, scale: &Value, is_unset: bool) -> Result<i64, StatusError> {
    let replicas = match &scale["spec"]["replicas"] {
        Value::Null if is_unset => {
            let path = paths(resource).spec_replicas;
            let why = format!("the spec replicas field {path:?} cannot be empty");
            return Err(StatusError::bad_request(why));
        }
        Value::Null => 0,
        given => given.as_i64().ok_or_else(|| {
            StatusError::bad_request("spec.replicas of a scale must be an integer")
        })?,
    };
    // Those of custom resources are validated with the object.
    if replicas < 0 && !resource.is_custom() {
        let name = scale["metadata"]["name"].as_str().unwrap_or_default();
        let path = FieldPath::new("spec").child("replicas");
        let detail = "must be greater than or equal to 0";
        let error = FieldError::invalid(&path, &json!(replicas), detail);
        return Err(StatusError::invalid("autoscaling", "Scale", name, &[error]));
    }
    Ok(replicas)
}
