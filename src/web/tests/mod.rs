//! Requests to every path.

mod about;
mod access;
mod activity;
mod approval;
mod audit;
mod bad_input;
mod commands;
mod connections;
mod events;
mod explain;
mod health;
mod http2;
mod kubernetes_events;
mod legible;
mod lists;
mod log_level;
mod login;
mod mcp;
mod mcp_client;
mod mcp_map;
mod mcp_rights;
mod mcp_tools;
mod openapi;
mod own_routes;
mod pages;
mod parent_lists;
mod peers;
mod proxy;
mod refusals;
mod reviewer;
mod routes;
mod secrets;
mod senders;
mod tls;
mod without_page;
mod world;

use std::sync::Arc;

use actix_web::{
    body::{MessageBody, to_bytes},
    dev::{Service, ServiceResponse},
    http::{
        Method, StatusCode,
        header::{self, HeaderMap, HeaderName},
    },
    test::{TestRequest, call_service, init_service},
};
use serde_json::Value;

use super::{
    WebState,
    audit::Quota,
    endpoint::Endpoint,
    events::EVENT_STREAM,
    origin::Protocol,
    request_rules::{Hosts, Limits, RequestRules},
    server::app,
    table::PATHS,
};

/// A response.
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(super) fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Sends a GET, as a client on the same machine.
pub(super) async fn get(state: &WebState, path: &str) -> Answer {
    ask(state, request(Method::GET, path)).await
}

pub(super) fn request(method: Method, path: &str) -> TestRequest {
    TestRequest::with_uri(path).method(method).insert_header(("Host", "localhost:8080"))
}

/// A command, as a program on the same machine sends it.
pub(super) fn command(method: Method, path: &str) -> TestRequest {
    request(method, path).insert_header((header::CONTENT_TYPE, "application/json"))
}

/// Sends a request to an endpoint on loopback without authentication.
pub(super) async fn ask(state: &WebState, request: TestRequest) -> Answer {
    ask_through(open_gate(), state, request).await
}

pub(super) fn open_gate() -> RequestRules {
    let (hosts, protocol) = (Hosts::Loopback, Protocol::Http);
    let (limits, quota, paths) = (Limits::default(), Quota::default(), Arc::clone(&PATHS));
    RequestRules { hosts, protocol, proxy: None, address: None, limits, quota, access: None, paths }
}

pub(super) async fn ask_through(
    rules: RequestRules,
    state: &WebState,
    request: TestRequest,
) -> Answer {
    let service = init_service(app(rules, state.clone())).await;
    answer_of(&service, request.to_request()).await
}

/// The same for a service that is called more than once.
pub(super) async fn answer_of<S, R, B>(service: &S, request: R) -> Answer
where
    S: Service<R, Response = ServiceResponse<B>, Error = actix_web::Error>,
    B: MessageBody,
{
    let response = call_service(service, request).await;
    let (code, headers) = (response.status().as_u16(), response.headers().clone());
    let Ok(body) = to_bytes(response.into_body()).await else { panic!("the body is incomplete") };
    Answer { code, headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

/// An existing path of an endpoint in [`world::World::running`] with its parent and a namespace.
pub(super) fn example_path(endpoint: &Endpoint) -> String {
    let is_namespaced = endpoint.path.contains("{namespace}");
    let is_parent = endpoint.path.contains("/parents/") || endpoint.path.contains("/map/");
    let (operator, ty, name) = match (is_namespaced, is_parent) {
        (true, true) => ("echo-server", "pods", "a"),
        (true, false) => ("echo-server", "pods", "pod"),
        (false, _) => ("spaces", "namespaces", "n00000"),
    };
    let asset = "page.css";
    let names = [
        ("{file}", asset),
        ("{operator}", operator),
        ("{type}", ty),
        ("{namespace}", "ns"),
        ("{name}", name),
    ];
    let fill = |path: String, (name, value): &(&str, &str)| path.replace(name, value);
    names.iter().fold(endpoint.path.to_owned(), fill)
}

/// Requests the example of an endpoint, without the body if it is endless.
pub(super) async fn probe(state: &WebState, endpoint: &Endpoint) -> Answer {
    ask(state, request(reading(endpoint), &example_path(endpoint))).await
}

/// GET, or HEAD for an endless answer.
pub(super) fn reading(endpoint: &Endpoint) -> Method {
    let is_endless = endpoint.answer.media_types == [EVENT_STREAM];
    if is_endless { Method::HEAD } else { Method::GET }
}

/// Checks that an answer is a `Status`, and returns its message.
pub(super) fn is_status(answer: &Answer, code: StatusCode, reason: &str) -> String {
    let status = answer.json();
    assert_eq!(answer.code, code.as_u16(), "{status}");
    assert_eq!(status["code"], code.as_u16());
    assert_eq!(
        [&status["kind"], &status["apiVersion"], &status["status"], &status["reason"]],
        ["Status", "v1", "Failure", reason]
    );
    status["message"].as_str().unwrap().to_owned()
}
