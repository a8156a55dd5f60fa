//! Which path is answered by whom.

use actix_web::{
    FromRequest, Handler, HttpRequest, HttpResponse, Resource, Responder, ResponseError,
    web::{self, Data, PathConfig, QueryConfig, ServiceConfig},
};

use super::{WebState, cache, health, index, metrics, operators, parents, status::Refused};

/// Every path, in the words of the index page.
pub(super) const PATHS: &[&str] = &[
    "/",
    "/api/v1/cache",
    "/api/v1/cache/{type}",
    "/api/v1/cache/{type}/{name}",
    "/api/v1/cache/{type}/{namespace}/{name}",
    "/api/v1/operators",
    "/api/v1/operators/{operator}",
    "/api/v1/operators/{operator}/parents",
    "/api/v1/operators/{operator}/parents/{name}",
    "/api/v1/operators/{operator}/parents/{namespace}/{name}",
    "/healthz",
    "/livez",
    "/metrics",
    "/readyz",
    "/readyz/{operator}",
];

pub(super) fn configure(config: &mut ServiceConfig, state: WebState) {
    config
        .app_data(Data::new(state))
        .app_data(QueryConfig::default().error_handler(|error, _| bad_request(&error)))
        .app_data(PathConfig::default().error_handler(|error, _| bad_request(&error)))
        .service(get("/", index::show))
        .service(get("/healthz", health::live))
        .service(get("/livez", health::live))
        .service(get("/readyz", health::ready))
        .service(get("/readyz/{operator}", health::operator_ready))
        .service(get("/metrics", metrics::show))
        .service(get("/api/v1/operators", operators::list))
        .service(get("/api/v1/operators/{operator}", operators::show))
        .service(get("/api/v1/operators/{operator}/parents", parents::list))
        .service(get("/api/v1/operators/{operator}/parents/{name}", parents::show))
        .service(get("/api/v1/operators/{operator}/parents/{namespace}/{name}", parents::show))
        .service(get("/api/v1/cache", cache::list_types))
        .service(get("/api/v1/cache/{type}", cache::list))
        .service(get("/api/v1/cache/{type}/{name}", cache::show))
        .service(get("/api/v1/cache/{type}/{namespace}/{name}", cache::show))
        .default_service(web::to(no_path));
}

fn get<F, Args>(path: &str, handler: F) -> Resource
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    web::resource(path)
        .route(web::get().to(handler.clone()))
        .route(web::head().to(handler))
        .default_service(web::to(wrong_method))
}

async fn no_path(request: HttpRequest) -> HttpResponse {
    Refused::NoPath { path: request.path().to_owned() }.error_response()
}

async fn wrong_method(request: HttpRequest) -> HttpResponse {
    Refused::Method(request.method().to_string()).error_response()
}

fn bad_request(error: &dyn std::error::Error) -> actix_web::Error {
    Refused::BadRequest(error.to_string()).into()
}
