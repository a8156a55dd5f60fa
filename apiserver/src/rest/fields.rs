//! Field selectors: the supported fields of a type, and their values in an object.

use serde_json::Value;

use crate::{
    log::{Object, ObjectKey},
    resource::{Origin, Resource},
    selector::FieldSelector,
    status::StatusError,
};

/// Fields that are supported for every type.
const COMMON: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// Parses a field selector for a type.
pub(super) fn parse(resource: &Resource, text: &str) -> Result<FieldSelector, StatusError> {
    let refuse = |error: crate::selector::ParseError| StatusError::bad_request(error.to_string());
    let selector = FieldSelector::parse(text).map_err(refuse)?;
    for field in selector.fields() {
        check_field(resource, field)?;
    }
    Ok(match (resource.id.group.as_str(), resource.id.plural.as_str()) {
        ("events.k8s.io", "events") => selector.renamed(as_stored),
        _ => selector,
    })
}

/// Events are kept in the form of the core group.
fn as_stored(field: &str) -> String {
    match field.strip_prefix("regarding.") {
        Some(rest) => format!("involvedObject.{rest}"),
        None => field.replace("reportingController", "reportingComponent"),
    }
}

/// Whether a selector chooses an object.
pub(super) fn chooses(selector: &FieldSelector, key: &ObjectKey, object: &Object) -> bool {
    if selector.is_empty() {
        return true;
    }
    // The object is parsed only for fields that are not in the key.
    let needs_object = selector.fields().any(|field| !COMMON.contains(&field));
    let parsed = if needs_object { object.value() } else { Value::Null };
    let found: Vec<(&str, String)> =
        selector.fields().map(|field| (field, text(key, &parsed, field))).collect();
    let get = |name: &str| {
        found.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str())
    };
    selector.matches(get)
}

fn text(key: &ObjectKey, object: &Value, field: &str) -> String {
    match field {
        "metadata.name" => return key.name.to_string(),
        "metadata.namespace" => return key.namespace.to_string(),
        _ => {}
    }
    match field.split('.').try_fold(object, |value, step| value.get(step)) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        // The reporter of an Event, in either form.
        Some(Value::Object(source)) if field == "source" => {
            let told = [source.get("component"), object.get("reportingComponent")];
            let mut told = told.into_iter().flatten().filter_map(Value::as_str);
            told.find(|by| !by.is_empty()).unwrap_or_default().to_owned()
        }
        Some(other) => other.to_string(),
    }
}

fn check_field(resource: &Resource, field: &str) -> Result<(), StatusError> {
    let built_in = built_in_fields(&resource.id.group, &resource.id.plural);
    // Types that say which fields they have leave it out when they are in no namespace.
    let says = resource.is_custom() || !built_in.is_empty();
    let is_missing = says && !resource.namespaced && field == COMMON[1];
    if COMMON.contains(&field) && !is_missing {
        return Ok(());
    }
    let more = match &resource.origin {
        Origin::Custom(custom) => {
            let mut paths = custom.selectable_fields.iter();
            if paths.any(|path| path.trim_start_matches('.') == field) {
                return Ok(());
            }
            true
        }
        Origin::BuiltIn(_) | Origin::Definition => {
            if built_in.contains(&field) {
                return Ok(());
            }
            !built_in.is_empty()
        }
    };
    let unknown = format!("field label not supported: {field}");
    let plain = || {
        format!(
            "\"{field}\" is not a known field selector: \
             only \"metadata.name\", \"metadata.namespace\""
        )
    };
    Err(StatusError::bad_request(if more { unknown } else { plain() }))
}

/// The supported fields beside name and namespace.
fn built_in_fields(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "reason",
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reportingController",
            "type",
        ],
        ("resource.k8s.io", "resourceslices") => &["spec.nodeName", "spec.driver"],
        ("", "namespaces") => &["status.phase"],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "replicationcontrollers") | ("apps", "replicasets") => &["status.replicas"],
        ("batch", "jobs") => &["status.successful"],
        _ => &[],
    }
}
