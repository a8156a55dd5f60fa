//! Configures the server from the table of endpoints.

use std::{collections::BTreeSet, sync::Arc};

use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    web::{self, Data, PathConfig, QueryConfig, ServiceConfig},
};

use super::{openapi::Document, paths::Paths, state::WebState, status::Refused};

/// A program cannot add routes below this path.
const API: &str = "/api/v1";

pub(super) fn configure(config: &mut ServiceConfig, paths: &Arc<Paths>, state: WebState) {
    let own_routes = state.program.routes.clone();
    config
        .app_data(Data::new(state))
        .app_data(Data::from(Arc::clone(paths)))
        .app_data(Data::new(Document::default()))
        .app_data(QueryConfig::default().error_handler(|error, _| bad_request(&error)))
        .app_data(PathConfig::default().error_handler(|error, _| bad_request(&error)));
    // One resource per method, not per path: paths overlap where the last name may be a command.
    for endpoint in paths.endpoints() {
        let resource = web::resource(endpoint.path).guard(endpoint.method.guard());
        config.service(resource.route((endpoint.route)()));
    }
    let paths: BTreeSet<&str> = paths.each().into_iter().collect();
    for path in paths {
        config.service(web::resource(path).to(wrong_method));
    }
    if !own_routes.is_empty() {
        // The program's own routes come last, and below the API none are looked up.
        config.service(web::scope(API).default_service(web::to(no_path)));
        config.service(
            own_routes
                .iter()
                .fold(web::scope(""), |scope, add| scope.configure(|config| add(config))),
        );
    }
    config.default_service(web::to(no_path));
}

async fn no_path(request: HttpRequest) -> HttpResponse {
    Refused::NoPath { path: request.path().to_owned() }.error_response()
}

async fn wrong_method(request: HttpRequest, paths: Data<Paths>) -> HttpResponse {
    let allowed = paths.methods_of(request.match_info().as_str());
    Refused::Method { method: request.method().to_string(), allowed }.error_response()
}

fn bad_request(error: &dyn std::error::Error) -> actix_web::Error {
    Refused::BadRequest(error.to_string()).into()
}
