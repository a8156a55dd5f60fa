//! A related Secret is never shown.

use super::*;
use crate::world::{EVENT, condition};

const PASSWORD: &str = "s3ntinel-of-a-relation";
/// The same in base64.
const ENCODED: &str = "czNudGluZWwtb2YtYS1yZWxhdGlvbg==";

#[operetta_harness::test]
async fn an_error_that_quotes_a_related_secret_is_redacted_everywhere() {
    let world = World::new().await;
    let operators = world.start(register).await;
    world.apply(SECRET, json!({"metadata": {"name": "ca"}, "data": {"password": ENCODED}})).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["ca"], "act": "quote"}))).await;
    let is_reported = |parent: &Value| {
        condition(parent, "Ready")["message"].to_string().contains("refused: (redacted)")
    };
    let parent = world.until(RECIPE, "r", "the redacted error", is_reported).await;
    let is_of_parent = |event: &&Value| event["regarding"]["name"] == "r";
    let has_event = |events: &Vec<Value>| events.iter().any(|event| is_of_parent(&event));
    let events = eventually("an Event", || world.list(EVENT), has_event).await;
    let ui = format!("/ui/operators/{READER}/parents/{}/r", world.namespace);
    let texts = [
        parent.to_string(),
        json!(events).to_string(),
        shown(&world, &operators, "r").await.to_string(),
        operators.http(&ui).await.1,
        operators.http("/metrics").await.1,
    ];
    for text in texts {
        assert!(!text.contains(PASSWORD) && !text.contains(ENCODED), "{text}");
    }
    operators.stop().await;
}
