//! The list of paths, for programs; people get the overview.

use actix_web::HttpResponse;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    endpoint::Endpoint,
    table::{self, ENDPOINTS},
};

/// What is answered here.
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
    /// `GET` stands for `HEAD` too.
    methods: &'static str,
    path: &'static str,
    summary: &'static str,
}

pub(super) fn show() -> HttpResponse {
    let endpoints = ENDPOINTS.iter().map(Entry::from).collect();
    HttpResponse::Ok().json(Index { paths: table::paths(), endpoints })
}

impl From<&Endpoint> for Entry {
    fn from(endpoint: &Endpoint) -> Self {
        let Endpoint { method, path, summary, .. } = *endpoint;
        Self { methods: method.names(), path, summary }
    }
}
