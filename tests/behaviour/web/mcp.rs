//! The tools for AI assistants, over operators that run.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    started::http,
    world::{CONFIG_MAP, Operators, World},
};

/// Calls a tool; the text of its answer.
async fn call(operators: &Operators, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let (message, address) = (message.to_string(), operators.running().web().unwrap());
    // The line after the body belongs to no request.
    let rest = format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    );
    let (code, answer) = http(address, "POST /mcp", &rest).await;
    assert_eq!(code, 200, "{answer}");
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let answer: Value = serde_json::from_str(body).unwrap();
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[operetta_harness::test(server)]
async fn an_assistant_finds_what_is_pending_and_pauses_and_resumes_a_parent() {
    let world = World::new().await;
    let config = recipe::config("cook");
    let operators = world.start(|builder| builder.mcp().register(config, recipe::sync)).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let parent = json!({"operator": "cook", "namespace": world.namespace, "name": "r"});
    call(&operators, "pause", &parent).await;
    let paused = world.get(RECIPE, "r").await;
    let pause = paused["metadata"]["annotations"]["operetta.dev/paused"].to_string();
    assert!(pause.starts_with("\"since="), "{pause}");
    operators.settled().await;
    world.delete(CONFIG_MAP, "c").await;
    operators.settled().await;
    let attention = call(&operators, "attention", &json!({})).await;
    assert!(attention.contains("/r of cook: paused"), "{attention}");
    let diff = call(&operators, "diff", &parent).await;
    assert!(diff.contains("Create ConfigMap"), "{diff}");
    call(&operators, "resume", &parent).await;
    world.until(CONFIG_MAP, "c", "the repair", |child| !child.is_null()).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let explanation = call(&operators, "explain", &parent).await;
    assert!(explanation.contains("Everything is up to date"), "{explanation}");
    operators.stop().await;
}
