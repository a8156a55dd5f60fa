//! The list of paths, for programs; browsers get the overview.

use actix_web::HttpResponse;
use schemars::JsonSchema;
use serde::Serialize;

use super::{endpoint::Endpoint, paths::Paths};

/// The paths of the endpoint.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Index {
    /// Every path.
    paths: Vec<&'static str>,
    /// Every path with each of its methods.
    endpoints: Vec<Entry>,
}

/// A path with a method.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Endpoint")]
struct Entry {
    /// The methods, such as `GET, HEAD`.
    methods: &'static str,
    path: &'static str,
    summary: &'static str,
}

pub(super) fn show(paths: &Paths) -> HttpResponse {
    let entry = |&Endpoint { method, path, summary, .. }: &Endpoint| {
        let methods = method.names();
        Entry { methods, path, summary }
    };
    let endpoints = paths.endpoints().iter().map(entry).collect();
    HttpResponse::Ok().json(Index { paths: paths.each(), endpoints })
}
