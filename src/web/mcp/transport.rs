//! Streamable HTTP without sessions: each POST has one message, and its answer is JSON. It hands the message to `rmcp`,
//! which works with other HTTP types than this server.

use std::sync::Arc;

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{self, Bytes, Data, Query, to},
};
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde_json::Value;
use tower::ServiceExt;

use super::{client::Client, protocol::Assistant};
use crate::web::{
    body::{self, MAX_BODY},
    endpoint::{AccessRule, Body, Endpoint, JSON, Method::Post, Parameter, Responses},
    request_rules::RequestRules,
    state::WebState,
    status::Refused,
};

const NAMESPACE: Parameter = Parameter::text(
    "namespace",
    "the namespace that the tools use where none is named; with permissions for this namespace alone, it decides which \
     tools are listed",
);

const MESSAGE: Body =
    Body { media_type: JSON, meaning: "one message of the Model Context Protocol", fields: &[] };

/// Those of the room.
pub(in crate::web) static ENDPOINTS: &[Endpoint] = &[Endpoint {
    access: AccessRule::Authenticated,
    ..Endpoint::new(
        Post,
        "/mcp",
        "Tools for AI assistants, by the Model Context Protocol",
        Responses::json::<Value>().with_codes(&[200, 202]),
        || to(answer),
    )
    .taking(MESSAGE)
    .with(&[NAMESPACE])
}];

#[derive(Debug, serde::Deserialize)]
struct Scope {
    namespace: Option<String>,
}

/// The headers of the protocol begin with it.
const HEADERS: &str = "mcp-";

async fn answer(
    request: HttpRequest,
    scope: Query<Scope>,
    payload: web::Payload,
    state: Data<WebState>,
    rules: Data<RequestRules>,
) -> Result<HttpResponse, Refused> {
    let message = body::text(payload, MAX_BODY).await?;
    check(&message)?;
    let client = Client::of(&request, scope.into_inner().namespace, &state, &rules)?;
    let assistant = move || Ok(Assistant::new(client.clone()));
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(assistant, sessions, configuration());
    let Ok(answered) = service.oneshot(forwarded(&request, message)?).await;
    let (parts, body) = answered.into_parts();
    let Ok(body) = body.collect().await;
    shown(&parts, body.to_bytes())
}

/// Hosts and origins were checked before.
fn configuration() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
}

/// The protocol has no batches any more.
fn check(message: &str) -> Result<(), Refused> {
    let refused = |why: String| Err(Refused::BadRequest(why));
    match serde_json::from_str::<Value>(message) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(Value::Array(_)) => refused(
            "a batch of messages is not accepted: send one message in each request".to_owned(),
        ),
        Ok(_) => refused("the body is no message: it must be a JSON object".to_owned()),
        Err(error) => refused(format!("the body is not JSON: {error}")),
    }
}

/// The request with the headers of the protocol alone. Any client gets JSON, whatever else it accepts.
fn forwarded(
    request: &HttpRequest,
    message: String,
) -> Result<http::Request<Full<Bytes>>, Refused> {
    let mut forwarded = http::Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", JSON)
        .header("accept", "application/json, text/event-stream");
    for (name, value) in request.headers() {
        if name.as_str().starts_with(HEADERS) {
            forwarded = forwarded.header(name.as_str(), value.as_bytes());
        }
    }
    let forwarded = forwarded.body(Full::new(Bytes::from(message)));
    forwarded.map_err(|error| Refused::BadRequest(format!("a header is invalid: {error}")))
}

/// A refusal in words becomes a `Status`.
fn shown(parts: &http::response::Parts, body: Bytes) -> Result<HttpResponse, Refused> {
    let code = StatusCode::from_u16(parts.status.as_u16())
        .map_err(|error| Refused::Internal(error.to_string()))?;
    let is_json =
        parts.headers.get("content-type").is_some_and(|it| it.as_bytes() == JSON.as_bytes());
    if is_json {
        return Ok(HttpResponse::build(code).content_type(JSON).body(body));
    }
    let words = String::from_utf8_lossy(&body).into_owned();
    match code {
        code if code.is_success() => Ok(HttpResponse::build(code).finish()),
        code if code.is_server_error() => Err(Refused::Internal(words)),
        _ => Err(Refused::BadRequest(words)),
    }
}
