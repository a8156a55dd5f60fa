//! The bodies of lists, item by item: neither all trees nor all bytes are there at one time.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use super::{
    accept::{Format, Representation},
    body::Body,
    call::Call,
    key_order, reply, representation,
};
use crate::{
    aside,
    log::{Object, ObjectKey},
    resource::Resource,
    status::StatusError,
    table::{self, TableOptions},
};

/// The size of objects from which a list is sent in parts.
const LARGE: usize = 1 << 20;
/// The size of objects up to which a list is sent in other formats than JSON.
const WHOLE_LIMIT: usize = 16 << 20;
/// How large the pieces are, about.
const PIECE: usize = 64 * 1024;
/// Of how many parts they are made at most: a small part may be made of a large object.
const PARTS: usize = 128;
/// What follows a list.
const END: Bytes = Bytes::from_static(b"\n");
/// What separates the items of a list.
const COMMA: &[u8] = b",";

/// Makes the items of a list.
struct Items {
    resource: Arc<Resource>,
    representation: Representation,
    table: TableOptions,
    /// The name of the object whose row is marked.
    default: Option<String>,
}

/// A list of objects in the requested representation.
pub(super) fn render(
    call: &Call<'_>,
    metadata: &Value,
    mut entries: Vec<(ObjectKey, Arc<Object>)>,
) -> Result<Response<Body>, StatusError> {
    let size: usize = entries.iter().map(|(_, object)| object.size()).sum();
    let mut accepted = call.accepted()?;
    representation::check_list(call.resource, accepted.representation)?;
    if size > LARGE && accepted.format != Format::Json {
        accepted.format = format_of_large(call, accepted.format, size)?;
    }
    if matches!(accepted.representation, Representation::Table(_)) {
        sort(call.resource, &mut entries);
    }
    let default = match accepted.representation {
        Representation::Table(_) if table::has_default(call.resource) => {
            table::default_class(entries.iter().map(|(_, object)| object.value()))
        }
        _ => None,
    };
    let items = Items {
        resource: Arc::clone(call.resource),
        representation: accepted.representation,
        table: call.table_options()?,
        default,
    };
    let is_null = entries.is_empty()
        && match items.representation {
            Representation::PartialMetadataList(_) => true,
            Representation::Table(_) => table::has_no_printer(call.resource),
            Representation::Object | Representation::PartialMetadata(_) => false,
        };
    let head = items.head(metadata, is_null);
    let tail = if is_null { "}" } else { "]}" };
    let mut is_first = true;
    let parts = entries.into_iter().flat_map(move |(_, object)| {
        let comma = if std::mem::take(&mut is_first) { &[] } else { COMMA };
        [Bytes::from_static(comma), aside::sized(object.size(), || items.item(&object))]
    });
    let parts = std::iter::once(head).chain(parts);
    let tail = Bytes::from_static(tail.as_bytes());
    let parts = parts.chain([tail]).filter(|part| !part.is_empty());
    if size <= LARGE || accepted.format != Format::Json {
        let whole = parts.fold(Vec::with_capacity(size), |mut whole, part| {
            whole.extend_from_slice(&part);
            whole
        });
        return Ok(reply::json_as(accepted.format, StatusCode::OK, &whole));
    }
    let mut response = Response::new(Body::pieces(pieces(parts.chain([END])), None));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

/// Joins small parts, each of which would be sent on its own.
fn pieces(mut parts: impl Iterator<Item = Bytes>) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let mut piece = BytesMut::with_capacity(PIECE + PIECE / 4);
        for part in parts.by_ref().take(PARTS) {
            piece.extend_from_slice(&part);
            if piece.len() >= PIECE {
                break;
            }
        }
        (!piece.is_empty()).then(|| piece.freeze())
    })
}

/// Tables show flow schemas in the order in which they are tried.
fn sort(resource: &Resource, entries: &mut [(ObjectKey, Arc<Object>)]) {
    if resource.id.plural == "flowschemas" && !resource.is_custom() {
        let precedence = |object: &Object| object.value()["spec"]["matchingPrecedence"].as_i64();
        entries.sort_by_cached_key(|(key, object)| (precedence(object), key.name.clone()));
    }
}

/// Only JSON is made item by item. Another format is made of the whole list, which must not be too large.
fn format_of_large(call: &Call<'_>, format: Format, size: usize) -> Result<Format, StatusError> {
    let accept = call.header(header::ACCEPT).unwrap_or_default();
    if accept.contains("application/json") || accept.contains("*/*") {
        return Ok(Format::Json);
    }
    if size <= WHOLE_LIMIT {
        return Ok(format);
    }
    Err(StatusError::not_implemented(&format!(
        "a list of {} MiB in this format: accept application/json, or ask for pages with limit",
        size >> 20
    )))
}

impl Items {
    /// What comes before the items.
    fn head(&self, metadata: &Value, is_null: bool) -> Bytes {
        let (kind, version, field) = match self.representation {
            Representation::Object => {
                (self.resource.list_kind.clone(), self.resource.api_version(), "items".to_owned())
            }
            Representation::PartialMetadata(version)
            | Representation::PartialMetadataList(version) => {
                let kind = "PartialObjectMetadataList".to_owned();
                (kind, version.api_version().to_owned(), "items".to_owned())
            }
            Representation::Table(version) => {
                let empty = table::render(&self.resource, &[], metadata, self.table);
                let columns = key_order::part(&empty["columnDefinitions"]);
                let field = format!("columnDefinitions\":{columns},\"rows");
                ("Table".to_owned(), version.api_version().to_owned(), field)
            }
        };
        let items = if is_null { "null" } else { "[" };
        let mut metadata = metadata.clone();
        if !matches!(self.representation, Representation::Object)
            && let Some(metadata) = metadata.as_object_mut()
        {
            metadata.retain(|name, value| name != "continue" || *value != "");
            metadata.remove("shardInfo");
        }
        let head = format!(
            r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{metadata},"{field}":{items}"#
        );
        head.into()
    }

    fn item(&self, object: &Object) -> Bytes {
        match self.representation {
            Representation::Object if self.resource.is_custom() => self.resource.json(object),
            // Lists of built-in types do not repeat the type in every item.
            Representation::Object => {
                [b"{", &self.resource.json_after_type(object)[..]].concat().into()
            }
            Representation::PartialMetadata(version)
            | Representation::PartialMetadataList(version) => {
                let object = self.resource.decode(object);
                key_order::text(&representation::partial(&self.resource, version, &object)).into()
            }
            Representation::Table(_) => {
                let objects = [self.resource.decode(object)];
                let options = TableOptions { headings: false, ..self.table };
                let mut table = table::render(&self.resource, &objects, &Value::Null, options);
                if self.default.as_deref().is_some_and(|it| objects[0]["metadata"]["name"] == it) {
                    table::mark_default(&mut table["rows"][0]);
                }
                key_order::part(&table["rows"][0]).into()
            }
        }
    }
}
