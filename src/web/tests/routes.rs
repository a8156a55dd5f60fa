//! The server serves exactly the table of endpoints.

use std::collections::BTreeSet;

use actix_web::{
    http::{Method, StatusCode, header},
    test::{call_service, init_service},
};

use super::{ask, example_path, is_status, open_gate, probe, request, world::World};
use crate::web::{endpoint::Method::Get, server::app, table::PATHS};

/// The patterns of the server, from the `Debug` output of its resource map.
async fn served(world: &World) -> BTreeSet<String> {
    let service = init_service(app(open_gate(), world.state.clone())).await;
    let response = call_service(&service, request(Method::GET, "/livez").to_request()).await;
    let map = format!("{:?}", response.request().resource_map());
    let patterns = map.split("Single(\"").skip(1).filter_map(|rest| rest.split('"').next());
    patterns.filter(|pattern| !pattern.is_empty()).map(str::to_owned).collect()
}

#[actix_web::test]
async fn the_served_paths_are_those_of_the_table() {
    let named: BTreeSet<String> = PATHS.each().into_iter().map(str::to_owned).collect();
    assert_eq!(served(&World::running()).await, named);
}

#[actix_web::test]
async fn every_endpoint_answers_with_a_code_and_media_type_of_the_table() {
    let world = World::running().with_parent().with_namespaces(1).in_group();
    for endpoint in PATHS.endpoints().filter(|endpoint| endpoint.method == Get) {
        let path = example_path(endpoint);
        let answer = probe(&world.state, endpoint).await;
        // Not available without `log_level` and without access control.
        if ["/log-level", "/ui/login"].contains(&endpoint.path) {
            is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
            continue;
        }
        if endpoint.path == "/api/v1/plans" {
            // Only in plan mode.
            is_status(&answer, StatusCode::CONFLICT, "Conflict");
            continue;
        }
        assert!(endpoint.answer.codes.contains(&answer.code), "{path}: {}", answer.body);
        let sent = answer.header(header::CONTENT_TYPE);
        let promised = endpoint.answer.media_types[0];
        assert!(sent.starts_with(promised), "{path}: {sent}, not {promised}");
    }
}

#[actix_web::test]
async fn a_method_that_is_not_allowed_is_refused_with_the_allowed_ones() {
    let world = World::running();
    for endpoint in PATHS.endpoints() {
        let path = example_path(endpoint);
        for method in [Method::DELETE, Method::PATCH, Method::OPTIONS, Method::TRACE] {
            let answer = ask(&world.state, request(method.clone(), &path)).await;
            let message = is_status(&answer, StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
            let allowed = answer.header(header::ALLOW);
            assert!(message.contains(method.as_str()) && message.contains(allowed), "{message}");
            assert!(allowed.contains(endpoint.method.names()), "{path}: {allowed}");
        }
    }
    let answer = ask(&world.state, request(Method::POST, "/log-level")).await;
    assert_eq!(answer.header(header::ALLOW), "GET, HEAD, PUT");
}
