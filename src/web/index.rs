//! The list of paths: HTML for browsers, JSON for others.

use actix_web::{HttpRequest, HttpResponse, http::header};
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

pub(super) async fn show(request: HttpRequest) -> HttpResponse {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        return HttpResponse::Ok().content_type("text/html; charset=utf-8").body(html());
    }
    let endpoints = ENDPOINTS.iter().map(Entry::from).collect();
    HttpResponse::Ok().json(Index { paths: table::paths(), endpoints })
}

impl From<&Endpoint> for Entry {
    fn from(endpoint: &Endpoint) -> Self {
        let Endpoint { method, path, summary, .. } = *endpoint;
        Self { methods: method.names(), path, summary }
    }
}

fn html() -> String {
    let entries: String = table::paths().into_iter().map(entry).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Operetta</title></head>\n\
         <body><h1>Operetta</h1>\n<ul>\n{entries}</ul>\n</body></html>\n"
    )
}

fn entry(path: &str) -> String {
    if path.contains('{') {
        format!("<li>{path}</li>\n")
    } else {
        format!("<li><a href=\"{path}\">{path}</a></li>\n")
    }
}
