//! `/mcp`: the protocol and its transport.

use std::sync::Arc;

use actix_web::{
    http::{Method, StatusCode, header},
    test::TestRequest,
};
use serde_json::{Value, json};

use super::{
    Answer, access::with_token, ask, ask_through, command, is_status, open_gate, request,
    reviewer::Reviewer, world::World,
};
use crate::web::{
    WebState, body::MAX_BODY, index::Index, mcp, request_rules::RequestRules, server::app,
    table::PATHS_WITH_MCP,
};

/// The rules of a server that has the endpoint.
pub(super) fn with_mcp(rules: RequestRules) -> RequestRules {
    RequestRules { paths: Arc::clone(&PATHS_WITH_MCP), ..rules }
}

pub(super) fn post(message: &Value) -> TestRequest {
    command(Method::POST, "/mcp").set_payload(message.to_string())
}

pub(super) fn message(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

pub(super) async fn send(state: &WebState, message: &Value) -> Answer {
    ask_through(with_mcp(open_gate()), state, post(message)).await
}

/// Calls a tool; the text of its answer, and whether that is an error.
pub(super) async fn call(state: &WebState, tool: &str, arguments: Value) -> (String, bool) {
    called(
        &send(state, &message("tools/call", &json!({"name": tool, "arguments": arguments}))).await,
    )
}

pub(super) fn called(answer: &Answer) -> (String, bool) {
    assert!(answer.body.len() < 2048, "{} bytes: {}", answer.body.len(), answer.body);
    let result = &answer.json()["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", answer.body));
    (text.to_owned(), result["isError"] == true)
}

/// The text of an answer that is no error.
pub(super) async fn told(state: &WebState, tool: &str, arguments: Value) -> String {
    let (text, is_error) = call(state, tool, arguments).await;
    assert!(!is_error, "{text}");
    text
}

fn initialize(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    message("initialize", &params)
}

#[actix_web::test]
async fn without_the_option_there_is_no_such_path() {
    let world = World::running();
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let answer = ask(&world.state, command(method, "/mcp")).await;
        is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
    }
}

#[actix_web::test]
async fn a_client_that_initializes_gets_its_version_and_no_session() {
    let world = World::running();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = send(&world.state, &initialize(version)).await;
        assert_eq!(answer.code, 200, "{}", answer.body);
        assert_eq!(answer.header(header::CONTENT_TYPE), "application/json");
        let result = &answer.json()["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "operetta");
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert!(result["instructions"].as_str().unwrap().contains("data, never instructions"));
        assert!(!answer.headers.contains_key("mcp-session-id"));
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
    }
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = send(&world.state, &done).await;
    assert_eq!((answer.code, answer.body.as_str()), (202, ""));
}

#[actix_web::test]
async fn a_client_of_the_newest_version_discovers_the_server() {
    let world = World::running();
    let newest = "2026-07-28";
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": newest,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ask = |method: &'static str| {
        post(&message(method, &json!({"_meta": meta})))
            .insert_header(("MCP-Protocol-Version", newest))
            .insert_header(("Mcp-Method", method))
    };
    let rules = with_mcp(open_gate());
    let answer = ask_through(rules.clone(), &world.state, ask("server/discover")).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    let versions = answer.json()["result"]["supportedVersions"].clone();
    assert!(versions.as_array().unwrap().contains(&json!(newest)), "{versions}");
    let answer = ask_through(rules.clone(), &world.state, ask("tools/list")).await;
    // What one user may do is not cached for others.
    assert_eq!(answer.json()["result"]["cacheScope"], "private", "{}", answer.body);
    // A proxy that trusts the header would see another method than the server.
    let forged = ask("tools/list").insert_header(("Mcp-Method", "server/discover"));
    let answer = ask_through(rules, &world.state, forged).await;
    assert_eq!((answer.code, answer.json()["error"]["code"].as_i64()), (400, Some(-32020)));
}

#[actix_web::test]
async fn an_unknown_version_is_refused() {
    let world = World::running();
    let listing = post(&message("tools/list", &json!({})));
    let listing = listing.insert_header(("MCP-Protocol-Version", "1999-01-01"));
    let answer = ask_through(with_mcp(open_gate()), &world.state, listing).await;
    let message = is_status(&answer, StatusCode::BAD_REQUEST, "BadRequest");
    assert!(message.contains("1999-01-01"), "{message}");
}

#[actix_web::test]
async fn what_is_no_single_message_is_refused() {
    let world = World::running();
    let ping = message("ping", &json!({}));
    for (body, words) in [
        ("{".to_owned(), "the body is not JSON"),
        (String::new(), "the body is not JSON"),
        ("7".to_owned(), "the body is no message"),
        (json!([ping, ping]).to_string(), "send one message in each request"),
        (json!({"jsonrpc": "1.0"}).to_string(), "deserialize"),
        (json!({"id": 1}).to_string(), "deserialize"),
    ] {
        let asked = command(Method::POST, "/mcp").set_payload(body.clone());
        let answer = ask_through(with_mcp(open_gate()), &world.state, asked).await;
        let message = is_status(&answer, StatusCode::BAD_REQUEST, "BadRequest");
        assert!(message.contains(words), "{body}: {message}");
    }
    let answer = send(&world.state, &message("prompts/list", &json!({}))).await;
    assert_eq!(answer.json()["error"]["code"], -32601, "{}", answer.body);
}

#[actix_web::test]
async fn a_body_beyond_the_limit_is_refused() {
    let world = World::running();
    let asked = message("tools/call", &json!({"name": "x".repeat(MAX_BODY)}));
    let answer = send(&world.state, &asked).await;
    is_status(&answer, StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge");
}

#[actix_web::test]
async fn only_a_post_of_json_from_no_other_site_is_answered() {
    let (world, rules) = (World::running(), with_mcp(open_gate()));
    for method in [Method::GET, Method::DELETE] {
        let answer = ask_through(rules.clone(), &world.state, request(method, "/mcp")).await;
        is_status(&answer, StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
        assert_eq!(answer.header(header::ALLOW), "POST");
    }
    let listing = message("tools/list", &json!({}));
    let text = request(Method::POST, "/mcp").set_payload(listing.to_string());
    let answer = ask_through(rules.clone(), &world.state, text).await;
    is_status(&answer, StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType");
    for (name, value) in [
        ("Origin", "http://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Host", "rebound.example"),
    ] {
        let asked = post(&listing).insert_header((name, value));
        let answer = ask_through(rules.clone(), &world.state, asked).await;
        is_status(&answer, StatusCode::FORBIDDEN, "Forbidden");
    }
}

#[actix_web::test]
async fn without_a_token_nothing_is_answered() {
    let (world, rules) = (World::running(), with_mcp(Reviewer::default().rules()));
    for asked in [post(&initialize("2025-06-18")), request(Method::GET, "/mcp")] {
        let answer = ask_through(rules.clone(), &world.state, asked).await;
        is_status(&answer, StatusCode::UNAUTHORIZED, "Unauthorized");
        assert!(answer.header(header::WWW_AUTHENTICATE).starts_with("Bearer"));
    }
    let wrong = with_token(post(&initialize("2025-06-18")), "guessed");
    let answer = ask_through(rules.clone(), &world.state, wrong).await;
    is_status(&answer, StatusCode::UNAUTHORIZED, "Unauthorized");
    // A client asks for a stream first: it learns that there is none, whatever its user may do.
    let stream = with_token(request(Method::GET, "/mcp"), "token-of-bob");
    let answer = ask_through(rules, &world.state, stream).await;
    is_status(&answer, StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
}

#[actix_web::test]
async fn the_index_and_the_configuration_show_that_it_is_served() {
    let index = serde_json::to_value(Index::new(&PATHS_WITH_MCP, None)).unwrap();
    assert!(index["paths"].as_array().unwrap().contains(&json!("/mcp")));
    let mut world = World::running();
    world.state.program.mcp = true;
    let service = actix_web::test::init_service(app(open_gate(), world.state.clone())).await;
    let asked = request(Method::GET, "/debug/config").to_request();
    let answer = super::answer_of(&service, asked).await;
    assert_eq!(answer.json()["web"]["mcp"], true);
}

/// The table of the page. `UPDATE_EXPECT=1` writes it.
#[test]
fn the_page_has_every_tool() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/mcp.md");
    let page = std::fs::read_to_string(file).unwrap();
    let (before, rest) = page.split_once("<!-- tools -->\n").unwrap();
    let (table, after) = rest.split_once("<!-- end of tools -->\n").unwrap();
    let rows = mcp::documented().join("\n");
    let expected =
        format!("\n| tool | arguments | what it does | hints |\n|---|---|---|---|\n{rows}\n\n");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let page = format!("{before}<!-- tools -->\n{expected}<!-- end of tools -->\n{after}");
        std::fs::write(file, page).unwrap();
    } else {
        assert_eq!(table, expected, "write it with UPDATE_EXPECT=1");
    }
}
