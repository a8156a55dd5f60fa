//! Who may call which tool of `/mcp`, and what the audit log says.

use actix_web::http::StatusCode;
use serde_json::{Value, json};

use super::{
    access::with_token,
    ask_through,
    audit::Log,
    is_status,
    mcp::{called, message, post, with_mcp},
    reviewer::Reviewer,
    world::World,
};
use crate::{
    board::WebRequest, object::ObjectKey, operator::OperatorName, web::request_rules::RequestRules,
};

const ALL: [&str; 13] = [
    "operators",
    "attention",
    "parents",
    "explain",
    "children",
    "map",
    "diff",
    "events",
    "activity",
    "sync",
    "pause",
    "resume",
    "allow-deletions",
];

async fn listed(rules: &RequestRules, world: &World, query: &str, user: &str) -> Vec<Value> {
    let asked = actix_web::test::TestRequest::with_uri(&format!("/mcp{query}"))
        .method(actix_web::http::Method::POST)
        .insert_header(("Host", "localhost:8080"))
        .insert_header(("Content-Type", "application/json"))
        .set_payload(message("tools/list", &json!({})).to_string());
    let asked = with_token(asked, &format!("token-of-{user}"));
    let answer = ask_through(rules.clone(), &world.state, asked).await;
    answer.json()["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

async fn call_as(
    rules: &RequestRules,
    world: &World,
    user: &str,
    (tool, arguments): (&str, Value),
) -> (String, bool) {
    let asked = post(&message("tools/call", &json!({"name": tool, "arguments": arguments})));
    let asked =
        with_token(asked.peer_addr("192.0.2.7:1".parse().unwrap()), &format!("token-of-{user}"));
    called(&ask_through(rules.clone(), &world.state, asked).await)
}

fn parent(namespace: &str, name: &str) -> Value {
    json!({"operator": "echo-server", "namespace": namespace, "name": name})
}

#[actix_web::test]
async fn only_the_tools_that_a_user_may_call_are_listed() {
    let (world, rules) = (World::running().with_parent(), with_mcp(Reviewer::default().rules()));
    let (reads, of_namespace) = (&ALL[..9], &ALL[1..]);
    for (user, query, expected) in [
        ("eve", "", &ALL[..]),
        ("ann", "", reads),
        ("bob", "", &ALL[..0]),
        ("bob", "?namespace=ns", &ALL[..0]),
        // Permissions for a namespace are not found without its name.
        ("tim", "", &ALL[..0]),
        ("tim", "?namespace=ns", of_namespace),
        ("tim", "?namespace=other", &ALL[..0]),
    ] {
        let tools = listed(&rules, &world, query, user).await;
        assert_eq!(names(&tools), expected, "{user} {query}");
    }
}

#[actix_web::test]
async fn tools_that_only_read_say_so_and_commands_do_not() {
    let (world, rules) = (World::running().with_parent(), with_mcp(Reviewer::default().rules()));
    for tool in listed(&rules, &world, "", "eve").await {
        let (name, hints) = (tool["name"].as_str().unwrap(), &tool["annotations"]);
        let expected = match name {
            "sync" => {
                json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false})
            }
            "pause" => {
                json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true})
            }
            "resume" | "allow-deletions" => {
                json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true})
            }
            _ => json!({"readOnlyHint": true}),
        };
        let mut hints = hints.clone();
        assert_eq!(hints.as_object_mut().unwrap().remove("openWorldHint"), Some(json!(false)));
        assert_eq!(hints, expected, "{name}");
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false))
        );
    }
}

#[actix_web::test]
async fn a_call_needs_the_permission_for_the_same_request_of_the_http_api() {
    let (world, rules) = (World::running().with_parent(), with_mcp(Reviewer::default().rules()));
    for (user, tool, arguments, path) in [
        ("bob", "operators", json!({}), "get path \"/operetta/api/v1/operators\""),
        ("bob", "attention", json!({}), "/operetta/api/v1/operators/echo-server/parents\""),
        ("bob", "parents", json!({"operator": "spaces"}), "/operators/spaces/parents\""),
        ("bob", "explain", parent("ns", "a"), "/parents/ns/a\""),
        ("bob", "children", parent("ns", "a"), "/parents/ns/a\""),
        ("bob", "diff", parent("ns", "a"), "/parents/ns/a\""),
        ("bob", "events", parent("ns", "a"), "/parents/ns/a\""),
        (
            "ann",
            "sync",
            parent("ns", "a"),
            "post path \"/operetta/api/v1/operators/echo-server/parents/ns/a/sync\"",
        ),
        ("ann", "pause", parent("ns", "a"), "/parents/ns/a/pause\""),
        (
            "ann",
            "resume",
            parent("ns", "a"),
            "nor create echoservers.example.com/operetta in the namespace \"ns\"",
        ),
        ("tim", "explain", parent("other", "a"), "in the namespace \"other\""),
        ("tim", "parents", json!({"operator": "echo-server"}), "/echo-server/parents\""),
        ("bob", "activity", json!({}), "get path \"/operetta/api/v1/activity\""),
        ("tim", "activity", json!({"namespace": "ns"}), "/operetta/api/v1/activity\""),
        ("tim", "parents", json!({"operator": "spaces", "namespace": "ns"}), "/spaces/parents\""),
        ("una", "explain", parent("ns", "b"), "/parents/ns/b\""),
    ] {
        let (why, is_error) = call_as(&rules, &world, user, (tool, arguments)).await;
        assert!(
            is_error && why.contains(&format!("User \"{user}\" cannot")),
            "{user} {tool}: {why}"
        );
        assert!(why.contains(path) && why.contains("no rule"), "{user} {tool}: {why}");
    }
    let operator = OperatorName::new("echo-server").unwrap();
    world.state.board.record_approval((&operator, &ObjectKey::namespaced("ns", "a")), None);
    for (user, tool, arguments) in [
        ("ann", "explain", parent("ns", "a")),
        ("tim", "explain", parent("ns", "a")),
        ("una", "explain", parent("ns", "a")),
        ("tim", "parents", json!({"operator": "echo-server", "namespace": "ns"})),
        ("tim", "attention", json!({"namespace": "ns"})),
        ("tim", "activity", json!({"operator": "echo-server", "namespace": "ns"})),
    ] {
        let (text, is_error) = call_as(&rules, &world, user, (tool, arguments)).await;
        assert!(!is_error && text.contains("ns/a"), "{user} {tool}: {text}");
    }
}

#[actix_web::test]
async fn what_a_user_may_not_read_is_no_part_of_an_answer() {
    let (world, rules) = (World::running().with_parent(), with_mcp(Reviewer::default().rules()));
    world.pause("spaces");
    let (text, _) = call_as(&rules, &world, "tim", ("attention", json!({"namespace": "ns"}))).await;
    assert!(text.contains("Without 1 operator that this user may not read."), "{text}");
    assert!(!text.contains("spaces"), "{text}");
}

#[actix_web::test]
async fn a_command_is_audited_as_that_of_the_http_api_and_a_read_is_not() {
    let (world, log) = (World::running().with_parent(), Log::default());
    let rules = with_mcp(Reviewer::default().rules());
    let _keeping = log.keep();
    let path = "/api/v1/operators/echo-server/parents/ns/a/pause";
    let (_, is_error) = call_as(&rules, &world, "ann", ("pause", parent("ns", "a"))).await;
    assert!(is_error);
    let mut requests = world.state.board.take_commands();
    let executing = async {
        let Some(WebRequest::Command(command)) = requests.recv().await else { panic!() };
        command.answer.give(Ok(()));
        command.by
    };
    let calling = call_as(&rules, &world, "eve", ("pause", parent("ns", "a")));
    let ((_, is_error), by) = tokio::join!(calling, executing);
    assert_eq!((is_error, by.as_deref()), (false, Some("eve")));
    let lines = log.lines();
    let [refused, done] = lines.as_slice() else { panic!("{lines:?}") };
    for (line, parts) in [
        (refused, ["user=ann", "code=403", r#"outcome="forbidden""#]),
        (done, ["user=eve", "code=200", r#"outcome="done""#]),
    ] {
        for part in
            parts.into_iter().chain(["command over HTTP", "from=192.0.2.7", "method=POST", path])
        {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    let (_, is_error) = call_as(&rules, &world, "ann", ("explain", parent("ns", "a"))).await;
    assert!(!is_error);
    assert_eq!(log.lines(), [""; 0]);
    // Whoever has no token is audited as at any path that may command.
    let strange = ask_through(rules, &world.state, post(&message("tools/list", &json!({})))).await;
    is_status(&strange, StatusCode::UNAUTHORIZED, "Unauthorized");
    let lines = log.lines();
    assert!(lines.len() == 1 && lines[0].contains(r#"path="/mcp""#), "{lines:?}");
}
