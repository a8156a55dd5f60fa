//! Responses: objects in the requested representation, lists, `Status` bodies.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

use super::{
    accept::{Format, Representation},
    body::Body,
    call::Call,
    key_order, representation,
};
use crate::{deep, log::Object, protobuf, status::StatusError, table, write::Written};

/// How deep a tree may be that is written as YAML.
const YAML_DEPTH: usize = 1000;

/// A response of JSON, which ends with a line break as in Go.
pub(super) fn json(code: StatusCode, body: &[u8]) -> Response<Body> {
    let mut response = Response::new(Body::full([body, b"\n"].concat()));
    *response.status_mut() = code;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// A response in another format than that of its JSON.
pub(super) fn json_as(format: Format, code: StatusCode, body: &[u8]) -> Response<Body> {
    if format == Format::Json {
        return json(code, body);
    }
    let Ok(tree) = deep::parse(body) else { return json(code, body) };
    let mut response = value_as(format, &tree);
    *response.status_mut() = code;
    response
}

/// A response from a tree; JSON where there is no such form of it.
pub(super) fn value_as(format: Format, tree: &Value) -> Response<Body> {
    match text_in(format, tree) {
        Some(text) => of_type(format.media_type(), text),
        None => value(tree),
    }
}

/// A tree as text; JSON where there is no such form of it.
pub(super) fn text_of(format: Format, tree: &Value) -> Vec<u8> {
    let json = || (key_order::text(tree) + "\n").into_bytes();
    text_in(format, tree).map_or_else(json, Vec::from)
}

fn text_in(format: Format, tree: &Value) -> Option<Bytes> {
    match format {
        Format::Json => None,
        // Its length grows with the square of the depth.
        Format::Yaml if deep::is_deeper(tree, YAML_DEPTH) => None,
        Format::Yaml => serde_yaml_ng::to_string(tree).ok().map(Bytes::from),
        Format::Protobuf => protobuf::encode(tree),
    }
}

/// A JSON response from a tree.
pub(super) fn value(value: &Value) -> Response<Body> {
    json(StatusCode::OK, key_order::text(value).as_bytes())
}

/// The answer to a path that leads nowhere.
pub(super) fn page_not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// A response without a body.
pub(super) fn empty(code: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::full(Bytes::new()));
    *response.status_mut() = code;
    response
}

/// A response of another media type.
pub(super) fn of_type(media: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// A text response.
pub(super) fn text(code: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(text));
    *response.status_mut() = code;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

/// A failure.
pub(super) fn failure(error: &StatusError, format: Format) -> Response<Body> {
    let code = StatusCode::from_u16(error.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = value_as(format, &error.body());
    *response.status_mut() = code;
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    for warning in error.warnings.iter().filter_map(|warning| warning_header(warning)) {
        response.headers_mut().append(header::WARNING, warning);
    }
    response
}

/// One object.
pub(super) fn object(call: &Call<'_>, object: &Object) -> Result<Response<Body>, StatusError> {
    let accepted = call.accepted()?;
    let decode = || call.resource.decode(object);
    representation::check_object(call.resource, accepted.representation, &decode)?;
    let body = match accepted.representation {
        Representation::Object => call.resource.json(object),
        Representation::Table(_) => {
            let rows = [decode()];
            let metadata = table_metadata(object);
            let table = table::render(call.resource, &rows, &metadata, call.table_options()?);
            key_order::text(&table).into()
        }
        Representation::PartialMetadata(version) | Representation::PartialMetadataList(version) => {
            key_order::text(&representation::partial(call.resource, version, &decode())).into()
        }
    };
    Ok(json_as(accepted.format, StatusCode::OK, &body))
}

/// The outcome of a write.
pub(super) fn written(call: &Call<'_>, written: &Written) -> Result<Response<Body>, StatusError> {
    let mut response = object(call, &written.object)?;
    if written.created {
        *response.status_mut() = StatusCode::CREATED;
    }
    warned(Ok(response), &written.warnings)
}

/// The same answer, or refusal, with warnings before its own.
pub(super) fn warned(
    answered: Result<Response<Body>, StatusError>,
    warnings: &[String],
) -> Result<Response<Body>, StatusError> {
    let mut response = answered.map_err(|error| error.with_warnings(warnings))?;
    let headers = response.headers_mut();
    let later: Vec<_> = headers.get_all(header::WARNING).iter().cloned().collect();
    headers.remove(header::WARNING);
    let first = warnings.iter().filter_map(|warning| warning_header(warning));
    for warning in first.chain(later) {
        headers.append(header::WARNING, warning);
    }
    Ok(response)
}

fn warning_header(warning: &str) -> Option<HeaderValue> {
    let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::from_str(&format!("299 - \"{quoted}\"")).ok()
}

fn table_metadata(object: &Object) -> Value {
    json!({ "resourceVersion": object.meta.resource_version.to_string() })
}
