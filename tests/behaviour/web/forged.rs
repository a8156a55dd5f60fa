//! Text of others cannot forge a line of the log, of an answer or of an Event.

use anyhow::Error;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    logged::{logged, watch_logs},
    recipe::{self, RECIPE, config_map, recipe},
    world::{EVENT, World, eventually},
};

/// A perfect line of the audit log.
const FORGED: &str = "2026-01-01T00:00:00.000000Z  INFO operetta::audit: f0rged over HTTP user=ann";

/// A name of a label, which the server quotes when it refuses it.
fn deceiving() -> String {
    format!("x\n{FORGED}\r\u{1b}[2K\u{202e}\u{2028}\u{9b}")
}

fn deceives(text: &str) -> bool {
    let has_other_line = text.lines().any(|line| line.starts_with("2026-01-01"));
    has_other_line || text.contains(['\r', '\u{1b}', '\u{202e}', '\u{2028}', '\u{9b}'])
}

/// Fails with what the parent says.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    match request.parent.field("spec").unwrap_or_default()["says"].as_str() {
        Some(text) => Err(Error::msg(format!("the parent says {text}"))),
        None => recipe::sync(request),
    }
}

#[operetta_harness::test]
async fn a_name_with_line_breaks_and_controls_deceives_nobody() {
    watch_logs();
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), sync)).await;
    let mut child = config_map("c", json!({"a": "b"}));
    child["metadata"]["labels"] = json!({(deceiving()): "x"});
    world.create(RECIPE, recipe("r", &[child])).await;
    let says = json!({"metadata": {"name": "s"}, "spec": {"says": deceiving()}});
    world.create(RECIPE, says).await;
    let quotes = |event: &Value| event["note"].as_str().is_some_and(|note| note.contains("f0rged"));
    let is_there = |events: &Vec<Value>| {
        let is_about = |name: &str, event: &Value| event["regarding"]["name"] == name;
        ["r", "s"].iter().all(|name| events.iter().any(|it| quotes(it) && is_about(name, it)))
    };
    let events = eventually("an Event that quotes it", || world.list(EVENT), is_there).await;
    for event in events.iter().filter(|event| quotes(event)) {
        let note = event["note"].as_str().unwrap();
        assert!(!deceives(note) && !note.contains('\n'), "{note:?}");
    }
    // A command that names it is logged before its parent is looked for.
    let of = "/api/v1/operators/cook/parents";
    let named = "r%0A2026-01-01T00:00:00.000000Z%20%20INFO%20operetta::audit:%20f0rged%20too";
    operators.post(&format!("{of}/{}/{named}/sync", world.namespace)).await;
    let lines = || std::future::ready(logged("f0rged"));
    let has_both = |lines: &Vec<String>| {
        let has = |part: &str| lines.iter().any(|line| line.contains(part));
        has("the parent says") && has("is invalid") && has("f0rged too")
    };
    let lines = eventually("the lines", lines, has_both).await;
    for line in &lines {
        assert!(!deceives(line), "{line}");
        assert_eq!(line.trim_end_matches('\n').lines().count(), 1, "{line}");
    }
    let of_parents = ["r", "s"].map(|name| format!("{of}/{}/{name}", world.namespace));
    for path in of_parents.into_iter().chain(["/readyz?verbose".to_owned()]) {
        let (_, answer) = operators.http(&path).await;
        assert!(!deceives(&answer.replace("\r\n", "\n")), "{path}: {answer}");
    }
    operators.stop().await;
}
