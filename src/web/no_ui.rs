//! In place of `ui` without the feature `dashboard`: browsers get texts, which name the feature.

use std::fmt::Write as _;

use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    dev::ServiceRequest,
    http::StatusCode,
    web::{Data, to},
};

use super::{
    accept,
    access::Access,
    endpoint::{Endpoint, JSON, Method::Get, Responses, TEXT},
    index::Index,
    pages::Pages,
    paths::Paths,
    status::Refused,
};

pub(super) static PAGES: Pages = Pages {
    endpoints: &[Endpoint::new(
        Get,
        "/",
        "The paths of this endpoint, as text for a browser, or as JSON",
        Responses::json::<Index>().also_as(&[JSON, TEXT]),
        || to(show),
    )],
    names: &[],
    denied,
};

const WHY: &str = "The program was built without the dashboard: it is the feature `dashboard` of the crate \
                   `operetta`, which is on by default.";

async fn show(request: HttpRequest, paths: Data<Paths>) -> HttpResponse {
    let index = Index::new(&paths, Some(WHY));
    if accept::is_browser(request.headers()) {
        text(StatusCode::OK, overview(&index))
    } else {
        HttpResponse::Ok().json(index)
    }
}

fn overview(index: &Index) -> String {
    let mut text = format!("Operetta: health, metrics and the HTTP API\n\n{WHY}\n\n");
    for entry in &index.endpoints {
        let _ = writeln!(text, "{:<9} {}\n          {}", entry.methods, entry.path, entry.summary);
    }
    text
}

fn denied(refused: &Refused, access: &Access, _: &ServiceRequest) -> HttpResponse {
    let body = format!(
        "Error: {refused}\n\n{WHY} So there is no login. Send a token with each request:\n\n\
         curl --header \"Authorization: Bearer $({})\" URL\n",
        access.token_command()
    );
    let mut response = text(refused.status_code(), body);
    refused.add_headers(&mut response);
    response
}

fn text(code: StatusCode, body: String) -> HttpResponse {
    HttpResponse::build(code).content_type("text/plain; charset=utf-8").body(body)
}
