//! The bodies of lists, item by item: neither all trees nor all bytes are there at one time.

use std::{sync::Arc, vec};

use bytes::Bytes;
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
/// Of how many objects they are made at most: a small item may be made of a large object.
const OBJECTS: usize = 64;

/// The text of a list, as far as it is not written yet.
struct Text {
    head: String,
    entries: vec::IntoIter<(ObjectKey, Arc<Object>)>,
    is_first: bool,
    /// What follows the items, until it is written.
    tail: Option<&'static str>,
    items: Items,
}

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
    let tail = if is_null { "}\n" } else { "]}\n" };
    let mut text =
        Text { head, entries: entries.into_iter(), is_first: true, tail: Some(tail), items };
    if accepted.format != Format::Json {
        return Ok(reply::json_as(accepted.format, StatusCode::OK, &text.whole(size)));
    }
    let body = if size <= LARGE {
        Body::full(text.whole(size))
    } else {
        Body::pieces(std::iter::from_fn(move || text.piece()), None)
    };
    let mut response = Response::new(body);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

impl Text {
    /// All of it.
    fn whole(mut self, size: usize) -> Vec<u8> {
        let mut whole = Vec::with_capacity(size);
        while self.write(&mut whole, usize::MAX) {}
        whole
    }

    /// The next piece.
    fn piece(&mut self) -> Option<Bytes> {
        self.tail?;
        let mut piece = Vec::with_capacity(PIECE + PIECE / 4);
        self.write(&mut piece, PIECE);
        Some(piece.into())
    }

    /// Writes what comes next, until there is enough of it; returns whether there is more.
    fn write(&mut self, piece: &mut Vec<u8>, enough: usize) -> bool {
        piece.extend_from_slice(std::mem::take(&mut self.head).as_bytes());
        for (_, object) in self.entries.by_ref().take(OBJECTS) {
            if !std::mem::take(&mut self.is_first) {
                piece.push(b',');
            }
            aside::sized(object.size(), || self.items.write(&object, piece));
            if piece.len() >= enough {
                return true;
            }
        }
        if self.entries.len() > 0 {
            return true;
        }
        piece.extend_from_slice(self.tail.take().unwrap_or_default().as_bytes());
        false
    }
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
    fn head(&self, metadata: &Value, is_null: bool) -> String {
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
        format!(
            r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{metadata},"{field}":{items}"#
        )
    }

    /// Writes the item of an object.
    fn write(&self, object: &Object, text: &mut Vec<u8>) {
        match self.representation {
            Representation::Object if self.resource.is_custom() => {
                text.extend_from_slice(&self.resource.text(object));
            }
            // Lists of built-in types do not repeat the type in every item.
            Representation::Object => {
                text.push(b'{');
                text.extend_from_slice(&self.resource.text_after_type(object));
            }
            Representation::PartialMetadata(version)
            | Representation::PartialMetadataList(version) => {
                let object = self.resource.decode(object);
                let partial = representation::partial(&self.resource, version, &object);
                text.extend_from_slice(key_order::text(&partial).as_bytes());
            }
            Representation::Table(_) => {
                let objects = [self.resource.decode(object)];
                let options = TableOptions { headings: false, ..self.table };
                let mut table = table::render(&self.resource, &objects, &Value::Null, options);
                if self.default.as_deref().is_some_and(|it| objects[0]["metadata"]["name"] == it) {
                    table::mark_default(&mut table["rows"][0]);
                }
                text.extend_from_slice(key_order::part(&table["rows"][0]).as_bytes());
            }
        }
    }
}
