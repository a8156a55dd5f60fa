//! Answers of paths that are no objects: discovery, `OpenAPI`, `OpenID`, health, and the version.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use super::{
    Body,
    accept::{self, Format},
    health, reply,
    route::Route,
};
use crate::{
    account_tokens, discovery,
    openapi::{self, Version},
    query::Query,
    requests::RequestRecord,
    shared::Shared,
    status::StatusError,
    version_tag::Content,
};

/// How long a document is kept that was asked for by its version.
const YEAR: Duration = Duration::from_hours(365 * 24);

/// Answers a path that is no object.
pub(super) fn answer(
    server: &Shared,
    record: &RequestRecord,
    route: &Route,
    headers: &HeaderMap,
) -> Result<Response<Body>, StatusError> {
    let resources = server.cluster.registry.snapshot();
    let text = |name| headers.get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    let accept = text(header::ACCEPT);
    let host = text(header::HOST).unwrap_or_default();
    let shown = |value: &Value| reply::value_as(accept::format(accept), value);
    let found = |value: Option<Value>| value.map_or_else(reply::page_not_found, |it| shown(&it));
    if *route != Route::Unknown && record.method != "GET" {
        return Err(StatusError::method_not_allowed());
    }
    Ok(match route {
        Route::Objects(_) | Route::Watch(_) | Route::Unknown => reply::page_not_found(),
        Route::Health(path) => health::answer(path, &Query::parse(&record.query)),
        Route::Version => reply::value(&discovery::version()),
        Route::CoreVersions => match accept::discovery(accept)? {
            Some(format) => aggregated(headers, format, &discovery::aggregated_core()),
            None => shown(&discovery::core_versions(host)),
        },
        Route::Groups => match accept::discovery(accept)? {
            Some(format) => aggregated(headers, format, &discovery::aggregated(&resources)),
            None => shown(&discovery::group_list(&resources)),
        },
        Route::Group(group) => found(discovery::group(&resources, group)),
        Route::GroupVersion(group, version) => {
            found(discovery::resources(&resources, group, version))
        }
        Route::OpenIdConfiguration => {
            public(accept, "application/json", &account_tokens::configuration(host))?
        }
        Route::TokenKeys => {
            let credentials = server.cluster.keychain.credentials();
            let credentials =
                credentials.map_err(|error| StatusError::internal(error.to_string()))?;
            let keys = account_tokens::keys(&credentials.token_key);
            public(accept, "application/jwk-set+json", &keys)?
        }
        Route::OpenApiVersion2 => {
            let tag = openapi::version(&resources, "");
            match openapi_format(accept, Version::Two) {
                Some(_) if is_known(headers, &tag) => not_modified(&tag),
                Some(format) => {
                    let document = openapi::version_2(&resources);
                    with_tag(openapi_in(format, Version::Two, document), &tag)
                }
                None => reply::empty(StatusCode::NOT_ACCEPTABLE),
            }
        }
        Route::OpenApiIndex => {
            let mut response = reply::value(&openapi::index(&resources));
            set(&mut response, header::CONTENT_TYPE, "text/plain; charset=utf-8");
            response
        }
        Route::OpenApi(path) => {
            let tag = openapi::version(&resources, path);
            let hash = Query::parse(&record.query).text("hash").map(str::to_owned);
            match openapi_format(accept, Version::Three) {
                None => reply::empty(StatusCode::NOT_ACCEPTABLE),
                Some(_) if is_known(headers, &tag) => not_modified(&tag),
                Some(format) => match openapi::document(&resources, path) {
                    None => reply::empty(StatusCode::NOT_FOUND),
                    Some(_) if hash.as_ref().is_some_and(|hash| *hash != tag) => moved(path, &tag),
                    Some(document) => {
                        let response = openapi_in(format, Version::Three, document);
                        let response = with_tag(response, &tag);
                        if hash.is_some() { immutable(response) } else { response }
                    }
                },
            }
        }
    })
}

/// A document that anybody may keep for an hour.
fn public(
    accept: Option<&str>,
    media_type: &'static str,
    document: &Value,
) -> Result<Response<Body>, StatusError> {
    let ranges = accept.filter(|it| !it.is_empty()).unwrap_or("*/*").split(',');
    let mut media = ranges.map(|range| range.split(';').next().unwrap_or_default().trim());
    if !media.any(|it| matches!(it, "*/*" | "application/*") || it == media_type) {
        return Err(StatusError::not_acceptable_here(&[media_type]));
    }
    let mut response = reply::of_type(media_type, document.to_string());
    set(&mut response, header::CACHE_CONTROL, "public, max-age=3600");
    Ok(response)
}

fn aggregated(headers: &HeaderMap, format: Format, list: &Value) -> Response<Body> {
    let tag = Content::new(list.to_string().as_bytes()).tag();
    let mut response = if is_known(headers, &tag) {
        not_modified(&tag)
    } else {
        let mut response = reply::value_as(format, list);
        let media = format!("{};{}", format.media_type(), discovery::MEDIA_PARAMETERS);
        set(&mut response, header::CONTENT_TYPE, &media);
        with_tag(response, &tag)
    };
    set(&mut response, header::CACHE_CONTROL, "public");
    response
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

fn openapi_in(format: Format, version: Version, document: String) -> Response<Body> {
    match format {
        Format::Protobuf => reply::of_type(version.protobuf(), version.encode(&document)),
        Format::Json | Format::Yaml => reply::json(StatusCode::OK, document),
    }
}

fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == *format!("\"{tag}\""))
}

fn with_tag(mut response: Response<Body>, tag: &str) -> Response<Body> {
    set(&mut response, header::ETAG, &format!("\"{tag}\""));
    set(&mut response, header::VARY, "Accept");
    response
}

fn not_modified(tag: &str) -> Response<Body> {
    with_tag(reply::empty(StatusCode::NOT_MODIFIED), tag)
}

/// A document of another version than the client knows of.
fn moved(path: &str, tag: &str) -> Response<Body> {
    let mut response = with_tag(reply::empty(StatusCode::MOVED_PERMANENTLY), tag);
    set(&mut response, header::LOCATION, &format!("/openapi/v3/{path}?hash={tag}"));
    response
}

fn immutable(mut response: Response<Body>) -> Response<Body> {
    let expires = (jiff::Timestamp::now() + YEAR).strftime("%a, %d %b %Y %H:%M:%S UTC").to_string();
    set(&mut response, header::CACHE_CONTROL, "public, immutable");
    set(&mut response, header::EXPIRES, &expires);
    response
}

fn set(response: &mut Response<Body>, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
}
