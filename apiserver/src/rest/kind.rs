//! Whether an object is of the type that its path is about, in the words of kube-apiserver.

use serde_json::Value;

use crate::{
    builtin,
    resource::{Origin, Resource},
    schema::{FieldError, FieldPath},
    status::StatusError,
};

/// Refuses a sent object of another type.
pub(super) fn check_sent(resource: &Resource, value: &Value) -> Result<(), StatusError> {
    let (version, kind) = given(value);
    if !value.is_object() {
        return Err(no_object(&resource.kind));
    }
    if resource.is_custom() && (kind.is_empty() || version.is_empty()) {
        let what = if kind.is_empty() { "Kind" } else { "apiVersion" };
        return Err(StatusError::bad_request(format!("Object '{what}' is missing in the request")));
    }
    if let Some(why) = built_in_mismatch(resource, version, kind) {
        let version = if version.is_empty() { resource.api_version() } else { version.to_owned() };
        let version = version.rsplit('/').next().unwrap_or_default();
        let (kind, expected) = (or(kind, &resource.kind), &resource.kind);
        let message = format!("{kind} in version \"{version}\" cannot be handled as a {expected}");
        return Err(StatusError::bad_request(format!("{message}: {why}")));
    }
    let expected = resource.api_version();
    if !version.is_empty() && version != expected {
        return Err(StatusError::bad_request(format!(
            "the API version in the data ({version}) does not match \
             the expected API version ({expected})"
        )));
    }
    if !kind.is_empty() && kind != resource.kind {
        return Err(StatusError::bad_request(format!(
            "{kind} in version \"{}\" cannot be handled as a {}",
            resource.version, resource.kind
        )));
    }
    Ok(())
}

/// Refuses the result of a patch that is of another type, or none.
pub(super) fn check_patched(resource: &Resource, value: &Value) -> Result<(), StatusError> {
    if !value.is_object() {
        return Err(unreadable(
            value,
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go \
             value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind \
             string \"json:\\\"kind,omitempty\\\"\" }",
        ));
    }
    let (version, kind) = given(value);
    if resource.is_custom() {
        return check_custom(resource, value, version, kind);
    }
    match built_in_mismatch(resource, version, kind) {
        Some(why) => Err(unreadable(value, &why)),
        None => Ok(()),
    }
}

fn check_custom(
    resource: &Resource,
    value: &Value,
    version: &str,
    kind: &str,
) -> Result<(), StatusError> {
    if kind.is_empty() {
        return Err(unreadable(value, &format!("Object 'Kind' is missing in '{value}'")));
    }
    if version.is_empty() {
        let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
        return Err(StatusError::internal(format!("Internal error occurred: {why}")));
    }
    let wrong = |field: &str, found: &str, expected: &str| {
        (found != expected).then(|| {
            let detail = format!("must be {expected}");
            FieldError::invalid(&FieldPath::new(field), &Value::from(found), detail)
        })
    };
    let errors = [
        wrong("kind", kind, &resource.kind),
        wrong("apiVersion", version, &resource.api_version()),
    ];
    let errors: Vec<FieldError> = errors.into_iter().flatten().collect();
    if errors.is_empty() {
        return Ok(());
    }
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    Err(StatusError::invalid(group, kind, name, &errors))
}

/// Why an object cannot become one of a built-in type.
fn built_in_mismatch(resource: &Resource, version: &str, kind: &str) -> Option<String> {
    if !matches!(resource.origin, Origin::BuiltIn(_)) {
        return None;
    }
    let expected = resource.api_version();
    let (version, kind) = (or(version, &expected), or(kind, &resource.kind));
    if version == expected && kind == resource.kind {
        return None;
    }
    let (group, short) = version.split_once('/').unwrap_or(("", version));
    let is_known =
        |ty: &builtin::BuiltinType| ty.group == group && ty.version == short && ty.kind == kind;
    if !builtin::types().iter().any(is_known) {
        let scheme = "in scheme \"pkg/runtime/scheme.go:111\"";
        return Some(format!(
            "no kind \"{kind}\" is registered for version \"{version}\" {scheme}"
        ));
    }
    if group == resource.id.group && kind == resource.kind {
        // Another version of the same type.
        return None;
    }
    let (package, expected) = (package(&resource.id.group), &resource.kind);
    Some(format!("converting ({short}.{kind}) to ({package}.{expected}): unknown conversion"))
}

/// The Go package of the types of a group.
fn package(group: &str) -> &str {
    match group.split('.').next().unwrap_or_default() {
        "" | "events" => "core",
        first => first,
    }
}

fn unreadable(value: &Value, why: &str) -> StatusError {
    let text = Value::from(value.to_string());
    let error = FieldError::invalid(&FieldPath::new("patch"), &text, why);
    StatusError::invalid("", "", "", &[error])
}

/// The refusal of what is not an object.
pub(super) fn no_object(kind: &str) -> StatusError {
    StatusError::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind})"
    ))
}

fn given(value: &Value) -> (&str, &str) {
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    (text("apiVersion"), text("kind"))
}

fn or<'a>(given: &'a str, expected: &'a str) -> &'a str {
    if given.is_empty() { expected } else { given }
}
