//! From the body of a request to an object, and whether it is the object that the path names.

use bytes::Bytes;
use serde_json::Value;

use super::{
    kind,
    tree::{Duplicates, Tree},
};
use crate::{
    protobuf::{self, Unreadable},
    resource::Resource,
    reviews::Review,
    status::StatusError,
};

const UNKNOWN_FORMAT: &str = "the body of the request was in an unknown format - accepted media \
                              types include: application/json, application/yaml, \
                              application/vnd.kubernetes.protobuf";
/// The real server has no answer at all to a custom resource as protobuf.
const NO_PROTOBUF: &str = "the body of the request was in an unknown format - accepted media types \
                           include: application/json, application/yaml";

/// The object in a body.
pub(super) fn object(
    resource: &Resource,
    content_type: Option<&str>,
    body: &Bytes,
) -> Result<Tree, StatusError> {
    if resource.is_custom() && media_type(content_type) == protobuf::MEDIA_TYPE {
        return Err(StatusError::unsupported_media_type(NO_PROTOBUF));
    }
    let tree = tree((&resource.api_version(), &resource.kind), content_type, body)?;
    kind::check_sent(resource, &tree.value)?;
    Ok(tree)
}

/// The review in a body.
pub(super) fn review(
    review: Review,
    content_type: Option<&str>,
    body: &Bytes,
) -> Result<Value, StatusError> {
    let Tree { value, .. } = tree((&review.api_version(), review.kind), content_type, body)?;
    if value.is_object() { Ok(value) } else { Err(kind::no_object(review.kind)) }
}

/// The scale in a body.
pub(super) fn scale(content_type: Option<&str>, body: &Bytes) -> Result<Value, StatusError> {
    Ok(tree(("autoscaling/v1", "Scale"), content_type, body)?.value)
}

/// The options of a deletion in a body; `Null` without one.
pub(super) fn delete_options(
    content_type: Option<&str>,
    body: &Bytes,
) -> Result<Value, StatusError> {
    match media_type(content_type) {
        _ if body.is_empty() => Ok(Value::Null),
        protobuf::MEDIA_TYPE => protobuf::decode(body, ("meta.k8s.io/v1", "DeleteOptions"))
            .map_err(|error| {
                let (Unreadable::Envelope(fault) | Unreadable::Object { fault, .. }) = error;
                StatusError::bad_request(fault.to_string())
            }),
        "" | "application/json" | "application/yaml" | "*/*" => Ok(yaml(body)?.value),
        _ => Err(StatusError::unsupported_media_type(UNKNOWN_FORMAT)),
    }
}

/// An object in a body; `expected` is what it is if it does not say what it is.
fn tree(
    expected: (&str, &str),
    content_type: Option<&str>,
    body: &Bytes,
) -> Result<Tree, StatusError> {
    match media_type(content_type) {
        "" | "application/json" | "*/*" => {
            let malformed = |why: &str| unrecognized(expected.1, body, why);
            Tree::of_json(body).map_err(|unread| unread.refusal(malformed))
        }
        "application/yaml" => yaml(body),
        protobuf::MEDIA_TYPE => {
            let value = protobuf::decode(body, expected)
                .map_err(|error| unreadable(expected.1, body, &error))?;
            Ok(Tree { value, duplicates: Duplicates::None })
        }
        _ => Err(StatusError::unsupported_media_type(UNKNOWN_FORMAT)),
    }
}

/// The media type without parameters.
pub(super) fn media_type(content_type: Option<&str>) -> &str {
    content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim()
}

/// YAML (hence JSON too) as JSON.
pub(super) fn yaml(body: &Bytes) -> Result<Tree, StatusError> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    if text.contains(is_control) {
        let why = "yaml: control characters are not allowed";
        let message = format!("error decoding YAML: error converting YAML to JSON: {why}");
        return Err(StatusError::bad_request(message));
    }
    // Most of what arrives as YAML is JSON, which is read much faster.
    if !text.contains(is_line_break)
        && let Ok(tree) = Tree::of_json(body)
        && tree.duplicates == Duplicates::None
    {
        return Ok(tree);
    }
    let malformed = |why: &str| {
        let message = format!("error decoding YAML: error converting YAML to JSON: yaml: {why}");
        StatusError::bad_request(message)
    };
    Tree::of_yaml(body).map_err(|unread| unread.refusal(malformed))
}

/// Characters that YAML allows only escaped, unlike JSON.
fn is_control(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        c => c < ' ' || matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}'),
    }
}

/// Line breaks that YAML folds and JSON keeps.
fn is_line_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn unrecognized(kind: &str, body: &Bytes, error: &str) -> StatusError {
    let mut text = String::from_utf8_lossy(body).into_owned();
    if let Some((at, _)) = text.char_indices().nth(64) {
        text.truncate(at);
        text.push_str(" ...");
    }
    StatusError::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): \
         couldn't get version/kind; json parse error: {error} ({text})"
    ))
}

fn unreadable(kind: &str, body: &[u8], error: &Unreadable) -> StatusError {
    StatusError::bad_request(match error {
        Unreadable::Object { kind: given, version, fault } => {
            format!("{given} in version {version:?} cannot be handled as a {kind}: {fault}")
        }
        Unreadable::Envelope(fault) => format!(
            "the object provided is unrecognized (must be of type {kind}): {fault} ({})",
            summary(body)
        ),
    })
}

/// The beginning of a body.
fn summary(body: &[u8]) -> String {
    const LIMIT: usize = 30;
    let start = &body[..body.len().min(LIMIT)];
    let more = if body.len() > LIMIT { " ..." } else { "" };
    match start {
        [] => "<empty>".to_owned(),
        [b'{', ..] => String::from_utf8_lossy(start).into_owned() + more,
        _ => {
            let digits = start.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            let hex: String = digits.filter_map(|it| char::from_digit(it.into(), 16)).collect();
            hex + more
        }
    }
}

/// Whether name and namespace of an object, where given, are those of the path.
pub(super) fn check_place(
    namespace: Option<&str>,
    name: Option<&str>,
    object: &Value,
) -> Result<(), StatusError> {
    if !matches!(object["metadata"], Value::Null | Value::Object(_)) {
        return Err(StatusError::bad_request("metadata must be an object"));
    }
    let given = |field: &str| object["metadata"][field].as_str().filter(|text| !text.is_empty());
    if given("namespace").is_some_and(|given| Some(given) != namespace) {
        return Err(StatusError::bad_request(
            "the namespace of the provided object does not match \
             the namespace sent on the request",
        ));
    }
    match (name, given("name")) {
        (Some(name), None) => Err(StatusError::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: \
             name must be provided"
        ))),
        (Some(name), Some(given)) if name != given => Err(StatusError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
        _ => Ok(()),
    }
}

/// Fills in type, name and namespace from the path.
pub(super) fn place(
    resource: &Resource,
    namespace: Option<&str>,
    name: Option<&str>,
    object: &mut Value,
) {
    object["apiVersion"] = Value::from(resource.api_version());
    object["kind"] = Value::from(resource.kind.as_str());
    if object["metadata"].is_null() {
        object["metadata"] = serde_json::json!({});
    }
    if let Some(namespace) = namespace {
        object["metadata"]["namespace"] = Value::from(namespace);
    }
    if let Some(name) = name {
        object["metadata"]["name"] = Value::from(name);
    }
}
