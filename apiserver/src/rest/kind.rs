//! Whether an object is of the type that its path is about, in the words of kube-apiserver.

use serde_json::Value;

use crate::{
    builtin,
    resource::{Origin, Resource},
    schema::{FieldError, FieldPath},
    status::StatusError,
};

/// What a value says that it is, as Go looks for it before anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    /// `group/version`; may be empty.
    pub(super) version: String,
    /// May be empty.
    pub(super) kind: String,
}

impl Given {
    /// What a value says; the error is what Go has to complain about.
    pub(super) fn of(value: &Value) -> Result<Self, String> {
        const LOOKED_FOR: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                                  Kind string \"json:\\\"kind,omitempty\\\"\" }";
        let unparsed = |found: &Value, into: &str| {
            let found = builtin::json_name(found);
            let into = format!("json: cannot unmarshal {found} into Go {into}");
            Err(format!("couldn't get version/kind; json parse error: {into}"))
        };
        if !matches!(value, Value::Object(_) | Value::Null) {
            return unparsed(value, &format!("value of type {LOOKED_FOR}"));
        }
        for field in ["apiVersion", "kind"] {
            if let Some(other) = value.get(field).filter(|it| !it.is_string() && !it.is_null()) {
                return unparsed(other, &format!("struct field .{field} of type string"));
            }
        }
        let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text("apiVersion"), text("kind"));
        if version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {version}"));
        }
        Ok(Self { version, kind })
    }
}

/// Why a sent object cannot become one of the type, if it is of another one.
pub(super) fn mismatch(resource: &Resource, given: &Given) -> Option<String> {
    built_in_mismatch(resource, &given.version, &given.kind)
}

/// Refuses a sent object of another version.
pub(super) fn check_version(resource: &Resource, given: &Given) -> Result<(), StatusError> {
    let (version, expected) = (&given.version, resource.api_version());
    if *version == expected || version.is_empty() && !resource.is_custom() {
        return Ok(());
    }
    Err(StatusError::bad_request(format!(
        "the API version in the data ({version}) does not match \
         the expected API version ({expected})"
    )))
}

/// Refuses the result of a patch that cannot be of the type.
pub(super) fn check_patched(resource: &Resource, value: &Value) -> Result<(), StatusError> {
    let given = Given::of(value).map_err(|why| unreadable(value, &why))?;
    if resource.is_custom() {
        if given.kind.is_empty() {
            let why = format!("Object 'Kind' is missing in '{value}'");
            return Err(unreadable(value, &why));
        }
        if given.version.is_empty() {
            let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
            return Err(StatusError::internal(format!("Internal error occurred: {why}")));
        }
        return Ok(());
    }
    match mismatch(resource, &given) {
        Some(why) => Err(unreadable(value, &why)),
        None => Ok(()),
    }
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

/// The refusal of another object where one is expected that is not stored.
pub(super) fn other_message(version: &str, kind: &str, expected: &str) -> StatusError {
    let (group, short) = version.split_once('/').unwrap_or(("", version));
    let mut types = builtin::types().iter().map(|ty| (ty.group, ty.version, ty.kind));
    let mut messages = builtin::messages().iter().map(|it| (it.group, it.version, it.kind));
    let given = (group, short, kind);
    let why = if types.any(|ty| ty == given) || messages.any(|message| message == given) {
        let package = match expected {
            "Eviction" => "policy",
            "Scale" => "autoscaling",
            "TokenRequest" => "authentication",
            _ => "core",
        };
        format!("converting ({short}.{kind}) to ({package}.{expected}): unknown conversion")
    } else {
        format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \
             \"pkg/runtime/scheme.go:111\""
        )
    };
    StatusError::bad_request(format!(
        "{kind} in version \"{short}\" cannot be handled as a {expected}: {why}"
    ))
}

/// Why a body cannot become options of a deletion. Those are the same in all groups and versions.
pub(super) fn other_than_delete_options(given: &Given) -> Option<String> {
    const EVERYWHERE: [&str; 7] = [
        "APIGroup",
        "APIGroupList",
        "APIResourceList",
        "APIVersions",
        "CreateOptions",
        "Status",
        "UpdateOptions",
    ];
    const OF_META: [&str; 7] = [
        "GetOptions",
        "ListOptions",
        "PartialObjectMetadata",
        "PartialObjectMetadataList",
        "PatchOptions",
        "Table",
        "TableOptions",
    ];
    let (version, kind) = (or(&given.version, "meta.k8s.io/v1"), given.kind.as_str());
    if matches!(kind, "" | "DeleteOptions") {
        return None;
    }
    let is_known =
        EVERYWHERE.contains(&kind) || version == "meta.k8s.io/v1" && OF_META.contains(&kind);
    Some(if is_known {
        format!("converting (v1.{kind}) to (v1.DeleteOptions): unknown conversion")
    } else {
        format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \
             \"pkg/runtime/scheme.go:111\""
        )
    })
}

/// The Go package of the types of a group.
pub(super) fn package(group: &str) -> &str {
    match group.split('.').next().unwrap_or_default() {
        "" | "events" => "core",
        first => first,
    }
}

/// The answer to a patch whose result is no object of the type.
pub(super) fn unreadable(value: &Value, why: &str) -> StatusError {
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

fn or<'a>(given: &'a str, expected: &'a str) -> &'a str {
    if given.is_empty() { expected } else { given }
}
