//! Refused requests, and the headers of every answer.

use actix_web::{
    http::{Method, StatusCode, header},
    test::TestRequest,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{ask, command, get, is_status, request, world::World};
use crate::web::{Protection, WebState, listen, server};

#[actix_web::test]
async fn a_missing_object_is_a_status_that_names_it() {
    let world = World::running();
    for (path, named) in [
        ("/nonsense", "/nonsense"),
        ("/api/v1", "/api/v1"),
        ("/api/v1/operators/", "/api/v1/operators/"),
        ("/api/v1/cache/pods/ns/../../secrets", "secrets"),
        ("/api/v1/cache/%2e%2e%2fetc", "../etc"),
        ("/api/v1/cache/%ff", "\u{fffd}"),
        ("/readyz/nobody", "nobody"),
        ("/api/v1/operators/nobody", "nobody"),
        ("/api/v1/operators/nobody/parents", "nobody"),
        ("/api/v1/operators/nobody/parents/ns/a", "nobody"),
        ("/api/v1/operators/echo-server/parents/ns/a", "ns/a"),
        ("/api/v1/cache/widgets.example.com", "widgets.example.com"),
        ("/api/v1/cache/pods/ns/nobody", "ns/nobody"),
    ] {
        let answer = get(&world.state, path).await;
        let message = is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
        assert!(message.contains(named), "{path}: {message}");
    }
}

#[actix_web::test]
async fn invalid_paths_and_queries_are_bad_requests() {
    let world = World::running();
    for path in [
        "/api/v1/cache/pods/pod",
        "/api/v1/cache/namespaces/ns/n",
        "/api/v1/operators/echo-server/parents/a",
        "/api/v1/operators/spaces/parents/ns/a",
        "/api/v1/cache/pods?limit=many",
        "/api/v1/operators/spaces/parents?limit=-1",
        "/api/v1/cache/pods?continue=a/b/c/d",
        "/api/v1/cache/pods?limit=1&limit=2",
    ] {
        is_status(&get(&world.state, path).await, StatusCode::BAD_REQUEST, "BadRequest");
    }
}

#[actix_web::test]
async fn paths_without_commands_allow_only_get_and_head() {
    let world = World::running();
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
        for path in ["/api/v1/operators", "/metrics", "/readyz", "/"] {
            let answer = ask(&world.state, request(method.clone(), path)).await;
            is_status(&answer, StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
            assert_eq!(answer.header(header::ALLOW), "GET, HEAD");
        }
    }
    assert_eq!(ask(&world.state, request(Method::HEAD, "/readyz")).await.code, 200);
}

#[actix_web::test]
async fn another_host_name_is_refused_on_loopback() {
    let world = World::running();
    let from = |host: &str| TestRequest::with_uri("/livez").insert_header(("Host", host));
    for host in ["evil.example", "localhost.evil.example:8080", ""] {
        is_status(&ask(&world.state, from(host)).await, StatusCode::FORBIDDEN, "Forbidden");
    }
    let without = TestRequest::with_uri("/livez");
    is_status(&ask(&world.state, without).await, StatusCode::FORBIDDEN, "Forbidden");
    let twice = from("localhost").append_header(("Host", "evil.example"));
    is_status(&ask(&world.state, twice).await, StatusCode::FORBIDDEN, "Forbidden");
    for host in ["127.0.0.1:8080", "localhost", "[::1]:9"] {
        assert_eq!(ask(&world.state, from(host)).await.code, 200, "{host}");
    }
}

#[actix_web::test]
async fn oversized_requests_are_refused() {
    let world = World::running();
    let long = format!("/{}", "x".repeat(9 << 10));
    is_status(&get(&world.state, &long).await, StatusCode::URI_TOO_LONG, "BadRequest");
    let headers = request(Method::GET, "/livez").insert_header(("X-Large", "x".repeat(17 << 10)));
    let code = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    is_status(&ask(&world.state, headers).await, code, "BadRequest");
    let body = command(Method::POST, "/livez").insert_header((header::CONTENT_LENGTH, "70000"));
    let code = StatusCode::PAYLOAD_TOO_LARGE;
    is_status(&ask(&world.state, body).await, code, "RequestEntityTooLarge");
}

#[actix_web::test]
async fn every_answer_has_the_security_headers() {
    let world = World::running();
    let wrong_host = TestRequest::with_uri("/").insert_header(("Host", "evil.example"));
    for answer in [
        get(&world.state, "/").await,
        get(&world.state, "/nonsense").await,
        ask(&world.state, request(Method::POST, "/metrics")).await,
        ask(&world.state, wrong_host).await,
    ] {
        assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert!(answer.header(header::CONTENT_SECURITY_POLICY).contains("default-src 'none'"));
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
    }
}

#[actix_web::test]
async fn a_server_listens_until_it_is_stopped() {
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = server(listener, World::running().state, Protection::default()).unwrap();
    let handle = server.handle();
    let running = actix_web::rt::spawn(server);
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
    handle.stop(false).await;
    running.await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[test]
fn the_debug_output_of_the_state_contains_no_objects() {
    let state: WebState = World::running().with_parent().state;
    assert!(!format!("{state:?}").contains(super::world::SENTINEL));
}
