//! Answers with documents that are made of all types: `OpenAPI` and aggregated discovery. With the versions by which
//! clients keep them, and compressed where the real server does that.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use super::{
    Body,
    accept::Format,
    compression::{self, Decided, accepts_gzip},
    reply,
};
use crate::{
    discovery,
    openapi::{self, Version},
    published::{Document, Draft, Published, Tag},
    resource::{Resource, Resources},
    version_tag::Content,
};

/// How long a document is kept that was asked for by its version.
const YEAR: Duration = Duration::from_hours(365 * 24);
/// The length from which version 2 is compressed.
const COMPRESSED_FROM: usize = 1400;

/// Answers a request with documents of these types.
pub(super) struct Publishing<'r> {
    pub(super) published: &'r Published,
    pub(super) resources: Arc<Resources>,
    pub(super) headers: &'r HeaderMap,
}

impl Publishing<'_> {
    /// `/api` and `/apis` in their aggregated form.
    pub(super) async fn aggregated(&self, path: &'static str, format: Format) -> Response<Body> {
        let name = format!("{path} {}", format.media_type());
        let make = move |resources: &Resources, draft: &mut Draft| {
            let list = match path {
                "api" => discovery::aggregated_core(),
                _ => discovery::aggregated(resources),
            };
            let tag = Content::new(list.to_string().as_bytes()).tag();
            draft.push(reply::text_of(format, &list));
            Some(Tag::Is(tag))
        };
        let Some(document) = self.document(&name, "", make).await else { return unavailable() };
        let media = format!("{};{}", format.media_type(), discovery::MEDIA_PARAMETERS);
        let mut response = self.unless_known(&document, &media, compression::THRESHOLD);
        set(&mut response, header::CACHE_CONTROL, "public");
        response
    }

    /// `/openapi/v2`.
    pub(super) async fn open_api_version_2(&self, accept: Option<&str>) -> Response<Body> {
        let Some(format) = openapi_format(accept, Version::Two) else {
            return reply::empty(StatusCode::NOT_ACCEPTABLE);
        };
        let make = |resources: &Resources, draft: &mut Draft| {
            openapi::version_2(resources, draft);
            Some(Tag::Is(openapi::version(resources, "")))
        };
        let json = self.document("v2", "", make).await;
        let Some(document) = self.in_format("v2", "", format, Version::Two, json).await else {
            return unavailable();
        };
        let mut response =
            self.unless_known(&document, media_type(format, Version::Two), COMPRESSED_FROM);
        set(&mut response, header::VARY, "Accept-Encoding");
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
        response
    }

    /// `/openapi/v3`.
    pub(super) async fn open_api_index(&self) -> Response<Body> {
        let make = |resources: &Resources, draft: &mut Draft| {
            draft.push(openapi::index(resources).to_string());
            Some(Tag::OfText)
        };
        let Some(document) = self.document("v3", "", make).await else { return unavailable() };
        sent(&document, "text/plain; charset=utf-8")
    }

    /// `/openapi/v3/{path}`. A document that is asked for by another version is to be asked for again.
    pub(super) async fn open_api(
        &self,
        path: &str,
        accept: Option<&str>,
        version: Option<&str>,
    ) -> Response<Body> {
        let Some(format) = openapi_format(accept, Version::Three) else {
            return reply::empty(StatusCode::NOT_ACCEPTABLE);
        };
        let name = format!("v3/{path}");
        let of = path.to_owned();
        let make = move |resources: &Resources, draft: &mut Draft| {
            openapi::document(resources, &of, draft)?;
            Some(Tag::Is(openapi::version(resources, &of)))
        };
        let json = self.document(&name, path, make).await;
        let document = self.in_format(&name, path, format, Version::Three, json).await;
        let Some(document) = document else { return reply::empty(StatusCode::NOT_FOUND) };
        if version.is_some_and(|version| *version != *document.tag) {
            return moved(path, &document.tag);
        }
        let mut response =
            self.unless_known(&document, media_type(format, Version::Three), usize::MAX);
        if version.is_some() {
            keep(&mut response);
        }
        response
    }

    /// A document that is made of the custom types below a path.
    async fn document(
        &self,
        name: &str,
        path: &str,
        make: impl FnOnce(&Resources, &mut Draft) -> Option<Tag> + Send + 'static,
    ) -> Option<Document> {
        let made_of: Vec<&Arc<Resource>> = openapi::made_of(&self.resources, path).collect();
        let resources = Arc::clone(&self.resources);
        self.published.document(name, &made_of, move |draft| make(&resources, draft)).await
    }

    /// A document of JSON in a format.
    async fn in_format(
        &self,
        name: &str,
        path: &str,
        format: Format,
        version: Version,
        json: Option<Document>,
    ) -> Option<Document> {
        if format != Format::Protobuf {
            return json;
        }
        let json = json?;
        let make = move |_: &Resources, draft: &mut Draft| {
            draft.push(version.encode(&json.text()));
            Some(Tag::Is(json.tag.as_ref().to_owned()))
        };
        self.document(&format!("{name} as protobuf"), path, make).await
    }

    /// A document, unless the client has it.
    fn unless_known(&self, document: &Document, media: &str, gzip_from: usize) -> Response<Body> {
        let tag = format!("\"{}\"", document.tag);
        let known = self.headers.get(header::IF_NONE_MATCH);
        let mut response = if known.is_some_and(|known| names(known, &tag)) {
            reply::empty(StatusCode::NOT_MODIFIED)
        } else if document.length >= gzip_from && accepts_gzip(self.headers) {
            compressed(document, media)
        } else {
            sent(document, media)
        };
        set(&mut response, header::ETAG, &tag);
        set(&mut response, header::VARY, "Accept");
        response
    }
}

fn sent(document: &Document, media: &str) -> Response<Body> {
    let length = document.length.try_into().ok();
    let mut response = Response::new(Body::pieces(document.pieces(), length));
    response.extensions_mut().insert(Decided);
    set(&mut response, header::CONTENT_TYPE, media);
    response
}

fn compressed(document: &Document, media: &str) -> Response<Body> {
    let mut response = Response::new(Body::full(document.compressed.clone()));
    response.extensions_mut().insert(Decided);
    set(&mut response, header::CONTENT_TYPE, media);
    set(&mut response, header::CONTENT_ENCODING, "gzip");
    response
}

/// Only while the process ends.
fn unavailable() -> Response<Body> {
    reply::empty(StatusCode::SERVICE_UNAVAILABLE)
}

/// Whether a header names a version, or any.
fn names(header: &HeaderValue, tag: &str) -> bool {
    let mut known = header.to_str().unwrap_or_default().split(',').map(str::trim);
    known.any(|it| it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag)
}

/// A document of another version than the client knows of.
fn moved(path: &str, tag: &str) -> Response<Body> {
    let mut response = reply::empty(StatusCode::MOVED_PERMANENTLY);
    set(&mut response, header::ETAG, &format!("\"{tag}\""));
    set(&mut response, header::VARY, "Accept");
    set(&mut response, header::LOCATION, &format!("/openapi/v3/{path}?hash={tag}"));
    response
}

/// What was asked for by its version never changes.
fn keep(response: &mut Response<Body>) {
    let expires = (jiff::Timestamp::now() + YEAR).strftime("%a, %d %b %Y %H:%M:%S UTC").to_string();
    set(response, header::CACHE_CONTROL, "public, immutable");
    set(response, header::EXPIRES, &expires);
}

fn media_type(format: Format, version: Version) -> &'static str {
    match format {
        Format::Protobuf => version.protobuf(),
        Format::Json | Format::Yaml => "application/json",
    }
}

/// `None` where nothing of the header can be answered.
fn openapi_format(accept: Option<&str>, version: Version) -> Option<Format> {
    let ranges = accept.filter(|it| !it.is_empty()).unwrap_or("*/*");
    let media = ranges.split(',').map(|range| range.split(';').next().unwrap_or_default().trim());
    media.into_iter().find_map(|media| match media {
        "*/*" | "application/*" | "application/json" => Some(Format::Json),
        // Clients write a version into it, with a letter that no media type has.
        media if media.replace('@', ".") == version.protobuf() => Some(Format::Protobuf),
        _ => None,
    })
}

pub(super) fn set(response: &mut Response<Body>, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
}
