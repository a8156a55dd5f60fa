//! The list of paths: HTML for browsers, JSON for others.

use actix_web::{HttpRequest, HttpResponse, http::header};
use serde_json::json;

use super::routes::PATHS;

pub(super) async fn show(request: HttpRequest) -> HttpResponse {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        return HttpResponse::Ok().content_type("text/html; charset=utf-8").body(html());
    }
    HttpResponse::Ok().json(json!({"paths": PATHS}))
}

fn html() -> String {
    let entries: String = PATHS.iter().map(|path| entry(path)).collect();
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
