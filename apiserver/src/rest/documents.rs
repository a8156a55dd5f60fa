//! Answers of paths that are no objects: discovery, `OpenAPI`, `OpenID`, health, and the version.

use http::{HeaderMap, HeaderValue, Response, header};
use serde_json::Value;

use super::{
    Body, accept, health, key_order, metrics,
    publishing::{Publishing, set},
    reply,
    route::Route,
};
use crate::{
    account_tokens, discovery, query::Query, requests::RequestRecord, shared::Shared,
    status::StatusError,
};

/// Answers a path that is no object.
pub(super) async fn answer(
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
    let published = Publishing { published: &server.published, resources, headers };
    let resources = &published.resources;
    Ok(match route {
        Route::Objects(_) | Route::Watch(_) | Route::Unknown => reply::page_not_found(),
        Route::Health(path) => health::answer(path, &Query::parse(&record.query)),
        Route::Metrics => reply::of_type(metrics::MEDIA_TYPE, metrics::text(server)),
        Route::Version => reply::of_type("application/json", discovery::version()),
        Route::CoreVersions => match accept::discovery(accept)? {
            Some(format) => published.aggregated("api", format).await,
            None => shown(&discovery::core_versions(host)),
        },
        Route::Groups => match accept::discovery(accept)? {
            Some(format) => published.aggregated("apis", format).await,
            None => shown(&discovery::group_list(resources)),
        },
        Route::Group(group) => found(discovery::group(resources, group)),
        Route::GroupVersion(group, version) => {
            found(discovery::resources(resources, group, version))
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
        Route::OpenApiVersion2 => published.open_api_version_2(accept).await,
        Route::OpenApiIndex => published.open_api_index().await,
        Route::OpenApi(path) => {
            let query = Query::parse(&record.query);
            published.open_api(path, accept, query.text("hash").filter(|it| !it.is_empty())).await
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
    let mut response = reply::of_type(media_type, key_order::text(document));
    set(&mut response, header::CACHE_CONTROL, "public, max-age=3600");
    Ok(response)
}
