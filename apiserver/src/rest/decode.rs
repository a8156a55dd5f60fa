//! From the body of a request to an object of the type that the path is about.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::{
    call::Call,
    json_fault,
    kind::{self, Given},
    place,
    tree::{Duplicates, Tree},
    yaml_fault,
};
use crate::{
    builtin,
    protobuf::{self, Unreadable},
    resource::Resource,
    reviews::Review,
    status::StatusError,
    write::{self, FieldValidation, Undecodable},
};

const UNKNOWN_FORMAT: &str = "the body of the request was in an unknown format - accepted media \
                              types include: application/json, application/yaml, \
                              application/vnd.kubernetes.protobuf";
/// The real server has no answer at all to a custom resource as protobuf.
const NO_PROTOBUF: &str = "the body of the request was in an unknown format - accepted media types \
                           include: application/json, application/yaml";

/// The object in a body, decoded and named as the path says, and what to warn of.
pub(super) fn object(
    call: &Call<'_>,
    validation: FieldValidation,
) -> Result<(Value, Vec<String>), StatusError> {
    let (resource, body) = (call.resource, call.body);
    if resource.is_custom() && media_type(call.content_type()) == protobuf::MEDIA_TYPE {
        return Err(StatusError::unsupported_media_type(NO_PROTOBUF));
    }
    let Tree { mut value, duplicates } =
        tree((&resource.api_version(), &resource.kind), call.content_type(), body)?;
    let given = Given::of(&value).map_err(|why| unrecognized(&resource.kind, body, &why))?;
    if resource.is_custom() && given.kind.is_empty() {
        return Err(without_kind(call, &value, validation));
    }
    if value.is_null() {
        value = Value::Object(Map::new());
    }
    if resource.is_custom() && value.get("apiVersion") == Some(&Value::Null) {
        let kind = &resource.kind;
        return Err(StatusError::bad_request(format!(
            "{} in version \"\" cannot be handled as a {kind}: .apiVersion accessor error: <nil> is \
             of the type <nil>, expected string",
            given.kind
        )));
    }
    let unfit = |why: String| unfit(resource, &given, &why);
    kind::mismatch(resource, &given).map_or(Ok(()), |why| Err(unfit(why)))?;
    let decoded = write::decode(resource, &mut value, validation, duplicates.complaints());
    let warnings = decoded.map_err(|error| match error {
        Undecodable::Because(why) => unfit(why),
        Undecodable::TooLarge => StatusError::internal(error.to_string()),
    })?;
    let (namespace, name) = (call.path.namespace.as_deref(), call.path.name.as_deref());
    kind::check_version(resource, &given)
        .and_then(|()| place::check(namespace, name, &value))
        .map_err(|error| error.with_warnings(&warnings))?;
    place::fill(resource, namespace, name, &mut value);
    Ok((value, warnings))
}

/// The refusal of a custom object that does not say what it is.
fn without_kind(call: &Call<'_>, value: &Value, validation: FieldValidation) -> StatusError {
    let body = String::from_utf8_lossy(call.body);
    if validation != FieldValidation::Ignore {
        let why = format!("Object 'Kind' is missing in '{body}'");
        return unrecognized(&call.resource.kind, call.body, &why);
    }
    let is_yaml = media_type(call.content_type()) == "application/yaml";
    let text = if is_yaml { value.to_string() } else { body.trim().to_owned() };
    let nothing = Given { version: String::new(), kind: String::new() };
    unfit(call.resource, &nothing, &format!("Object 'Kind' is missing in '{text}'"))
}

/// The refusal of a value that is no object of its type.
fn unfit(resource: &Resource, given: &Given, why: &str) -> StatusError {
    let expected = &resource.kind;
    let kind = if given.kind.is_empty() { expected } else { &given.kind };
    let version = given.version.rsplit('/').next().filter(|version| !version.is_empty());
    let version = version.unwrap_or(&resource.version);
    let message = format!("{kind} in version \"{version}\" cannot be handled as a {expected}");
    StatusError::bad_request(format!("{message}: {why}"))
}

/// The review in a body, and what to warn of.
pub(super) fn review(
    review: Review,
    content_type: Option<&str>,
    body: &Bytes,
    validation: FieldValidation,
) -> Result<(Value, Vec<String>), StatusError> {
    let Tree { value, duplicates } =
        tree((&review.api_version(), review.kind), content_type, body)?;
    if !value.is_object() {
        return Err(kind::no_object(review.kind));
    }
    let kind = review.kind;
    let given = Given::of(&value).map_err(|why| unrecognized(kind, body, &why))?;
    let Some(message) =
        builtin::message(kind).filter(|_| matches!(given.kind.as_str(), "") || given.kind == kind)
    else {
        // What it is instead is said later.
        return Ok((value, Vec::new()));
    };
    let mut read = value.clone();
    let complaints = duplicates.complaints();
    let warnings = write::decode_message(message, &mut read, validation, complaints)
        .map_err(|why| unfit_message(kind, &why))?;
    Ok((value, warnings))
}

fn unfit_message(kind: &str, why: &Undecodable) -> StatusError {
    let what = format!("{kind} in version \"v1\" cannot be handled as a {kind}");
    StatusError::bad_request(format!("{what}: {why}"))
}

/// An object in a body that is not stored; `expected` are its version and kind.
pub(super) fn message(
    expected: (&str, &str),
    content_type: Option<&str>,
    body: &Bytes,
) -> Result<Value, StatusError> {
    let value = tree(expected, content_type, body)?.value;
    if value.is_object() { Ok(value) } else { Err(kind::no_object(expected.1)) }
}

/// The request for a token in a body, and what to warn of.
pub(super) fn token_request(
    call: &Call<'_>,
    validation: FieldValidation,
) -> Result<(Value, Vec<String>), StatusError> {
    const VERSION: &str = "authentication.k8s.io/v1";
    const KIND: &str = "TokenRequest";
    let Tree { mut value, duplicates } = tree((VERSION, KIND), call.content_type(), call.body)?;
    let given = Given::of(&value).map_err(|why| unrecognized(KIND, call.body, &why))?;
    let is = |given: &str, expected| given.is_empty() || given == expected;
    if !is(&given.version, VERSION) || !is(&given.kind, KIND) {
        let (version, kind) = (or(&given.version, VERSION), or(&given.kind, KIND));
        return Err(kind::other_message(version, kind, KIND));
    }
    let message = builtin::message(KIND).ok_or_else(|| StatusError::not_implemented(KIND))?;
    let complaints = duplicates.complaints();
    let decoded = write::decode_message(message, &mut value, validation, complaints);
    let warnings = decoded.map_err(|why| unfit_message(KIND, &why))?;
    place::check(call.path.namespace.as_deref(), None, &value)
        .map_err(|error| error.with_warnings(&warnings))?;
    (value["apiVersion"], value["kind"]) = (VERSION.into(), KIND.into());
    Ok((value, warnings))
}

/// The options of a deletion in a body, if there is one.
pub(super) fn delete_options(
    content_type: Option<&str>,
    body: &Bytes,
) -> Result<Option<Value>, StatusError> {
    const KIND: &str = "DeleteOptions";
    let refuse = |why: &str| StatusError::bad_request(why);
    let mut value = match media_type(content_type) {
        _ if body.is_empty() => return Ok(None),
        protobuf::MEDIA_TYPE => {
            let decoded = protobuf::decode(body, ("meta.k8s.io/v1", KIND));
            decoded.map_err(|error| {
                let (Unreadable::Envelope(fault) | Unreadable::Object { fault, .. }) = error;
                refuse(&fault.to_string())
            })?
        }
        "" | "application/json" | "*/*" => {
            json(body, |why| {
                refuse(&format!("couldn't get version/kind; json parse error: {why}"))
            })?
            .value
        }
        "application/yaml" => yaml(body, refuse)?.value,
        _ => return Err(StatusError::unsupported_media_type(UNKNOWN_FORMAT)),
    };
    let given = Given::of(&value).map_err(|why| refuse(&why))?;
    kind::other_than_delete_options(&given).map_or(Ok(()), |why| Err(refuse(&why)))?;
    if let Some(message) = builtin::message(KIND) {
        builtin::read_message(message, &mut value).map_err(|why| refuse(&why))?;
    }
    Ok(Some(value))
}

/// An object in a body; `expected` is what it is if it does not say what it is.
fn tree(
    expected: (&str, &str),
    content_type: Option<&str>,
    body: &Bytes,
) -> Result<Tree, StatusError> {
    match media_type(content_type) {
        "" | "application/json" | "*/*" => json(body, |why| {
            let why = format!("couldn't get version/kind; json parse error: {why}");
            unrecognized(expected.1, body, &why)
        }),
        "application/yaml" => yaml(body, |why| unrecognized(expected.1, body, why)),
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

/// JSON; what is malformed is refused with what Go says about it.
pub(super) fn json(
    body: &Bytes,
    malformed: impl FnOnce(&str) -> StatusError,
) -> Result<Tree, StatusError> {
    Tree::of_json(body).map_err(|unread| {
        unread.refusal(|why| malformed(&json_fault::of(body).unwrap_or_else(|| why.to_owned())))
    })
}

/// YAML (hence JSON too) as JSON; what is malformed is refused with what Go says about it.
pub(super) fn yaml(
    body: &Bytes,
    malformed: impl FnOnce(&str) -> StatusError,
) -> Result<Tree, StatusError> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    if text.contains(is_control) {
        return Err(malformed("yaml: control characters are not allowed"));
    }
    // Most of what arrives as YAML is JSON, which is read much faster.
    if !text.contains(is_line_break)
        && let Ok(tree) = Tree::of_json(body)
        && tree.duplicates == Duplicates::None
    {
        return Ok(tree);
    }
    Tree::of_yaml(body)
        .map_err(|unread| unread.refusal(|why| malformed(&yaml_fault::in_words_of_go(why))))
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

fn or<'a>(given: &'a str, expected: &'a str) -> &'a str {
    if given.is_empty() { expected } else { given }
}

fn unrecognized(kind: &str, body: &[u8], why: &str) -> StatusError {
    StatusError::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({})",
        summary(body)
    ))
}

fn unreadable(kind: &str, body: &[u8], error: &Unreadable) -> StatusError {
    StatusError::bad_request(match error {
        Unreadable::Object { kind: given, version, fault } => {
            format!("{given} in version {version:?} cannot be handled as a {kind}: {fault}")
        }
        Unreadable::Envelope(fault) => return unrecognized(kind, body, &fault.to_string()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_header_has_a_media_type() {
        const TOKENS: [&str; 6] = ["application/json", ";", " ", "charset=utf-8", "/", ","];
        operetta_harness::random::texts(&TOKENS, |text| {
            assert!(media_type(Some(text)).len() <= text.len());
        });
    }
}
