//! The program's own routes.

use std::sync::Arc;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode, header},
    test::TestRequest,
    web::{self, ServiceConfig},
};
use k8s_openapi::api::core::v1::{Node, Pod};

use super::{ask, ask_through, get, is_status, open_gate, request, world::World};
use crate::web::{
    Stores, StoresError, WebState, origin::Protocol, request_rules::RequestRules, table::PATHS,
};

async fn pods(stores: Stores) -> Result<String, StoresError> {
    let names = stores.list::<Pod>()?.into_iter().filter_map(|pod| pod.metadata.name);
    Ok(names.collect::<Vec<_>>().join(" "))
}

async fn pod(path: web::Path<(String, String)>, stores: Stores) -> Result<String, StoresError> {
    let (namespace, name) = path.into_inner();
    let typed: Option<Pod> = stores.get((namespace.as_str(), name.as_str()))?;
    let untyped = stores.get_object(("v1", "Pod"), (namespace.as_str(), name.as_str()))?;
    let uid = typed.and_then(|pod| pod.metadata.uid);
    assert_eq!(uid, untyped.as_ref().map(|pod| pod.uid().to_string()));
    Ok(uid.unwrap_or_default())
}

async fn nodes(stores: Stores) -> Result<String, StoresError> {
    stores.list::<Node>().map(|nodes| nodes.len().to_string())
}

async fn mine() -> &'static str {
    "mine"
}

async fn teapot() -> HttpResponse {
    HttpResponse::ImATeapot().finish()
}

fn state(add: impl Fn(&mut ServiceConfig) + Send + Sync + 'static) -> WebState {
    let mut state = World::running().with_parent().with_namespaces(1).state;
    state.program.routes.push(Arc::new(add));
    state
}

#[actix_web::test]
async fn they_read_the_stores_typed_and_untyped() {
    let state = state(|config| {
        config
            .route("/pods", web::get().to(pods))
            .route("/pods/{namespace}/{name}", web::get().to(pod))
            .route("/nodes", web::get().to(nodes));
    });
    assert_eq!(get(&state, "/pods").await.body, "pod");
    assert_eq!(get(&state, "/pods/ns/pod").await.body, "pod");
    assert_eq!(get(&state, "/pods/ns/nobody").await.body, "");
    let answer = get(&state, "/nodes").await;
    let message = is_status(&answer, StatusCode::INTERNAL_SERVER_ERROR, "InternalError");
    assert_eq!(message, "no operator watches Node.v1");
}

#[actix_web::test]
async fn they_pass_the_guard() {
    let state = state(|config| {
        config.route("/mine", web::get().to(mine));
    });
    let answer = get(&state, "/mine").await;
    assert_eq!((answer.code, answer.body.as_str()), (200, "mine"));
    assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    let elsewhere = TestRequest::with_uri("/mine").insert_header(("Host", "evil.example"));
    is_status(&ask(&state, elsewhere).await, StatusCode::FORBIDDEN, "Forbidden");
}

#[actix_web::test]
async fn they_get_the_scheme_from_the_server_and_not_from_the_client() {
    let state = state(|config| {
        let scheme = async |request: HttpRequest| request.connection_info().scheme().to_owned();
        config.route("/scheme", web::get().to(scheme));
    });
    for (protocol, expected) in [(Protocol::Http, "http"), (Protocol::Https, "https")] {
        let asked = request(Method::GET, "/scheme").insert_header(("X-Forwarded-Proto", "gopher"));
        let answer = ask_through(RequestRules { protocol, ..open_gate() }, &state, asked).await;
        assert_eq!(answer.body, expected);
    }
}

#[actix_web::test]
async fn they_cannot_replace_a_path_of_the_framework() {
    let plain = World::running().with_parent().with_namespaces(1).state;
    let greedy = state(|config| {
        for path in PATHS.each() {
            config.route(path, web::to(mine));
        }
        config
            .service(web::scope("/api").default_service(web::to(mine)))
            .service(web::resource("/{anything:.*}").to(mine))
            .default_service(web::to(mine));
    });
    // The stream of events ends only with the process.
    plain.board.begin_stopping();
    greedy.board.begin_stopping();
    for path in PATHS.each().into_iter().filter(|path| !path.contains('{')) {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            let asked = || request(method.clone(), path);
            let (ours, answer) = (ask(&plain, asked()).await, ask(&greedy, asked()).await);
            assert_eq!(answer.code, ours.code, "{method} {path}");
            assert_ne!(answer.body, "mine", "{method} {path}");
        }
    }
    is_status(&get(&greedy, "/api/v1/nonsense").await, StatusCode::NOT_FOUND, "NotFound");
    assert_eq!(get(&greedy, "/nonsense").await.body, "mine");
    assert_eq!(get(&greedy, "/api/v2").await.body, "mine");
}

#[actix_web::test]
async fn unknown_paths_get_a_status_or_the_default_service_of_the_program() {
    let modest = state(|config| {
        config.route("/mine", web::get().to(mine));
    });
    is_status(&get(&modest, "/nonsense").await, StatusCode::NOT_FOUND, "NotFound");
    let with_default = state(|config| {
        config.default_service(web::to(teapot));
    });
    assert_eq!(get(&with_default, "/nonsense").await.code, 418);
    assert_eq!(get(&with_default, "/livez").await.code, 200);
}
