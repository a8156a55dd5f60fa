//! Events that a handler returns about its parent.

use operetta::{operator::EventType, prelude::*};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE},
    world::{EVENT, Operators, World, eventually},
};

/// Returns the Events of the spec.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let mut response = recipe::sync(request)?;
    response.events = serde_json::from_value(spec["events"].clone())?;
    Ok(response)
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn finalize(_: &SyncRequest) -> Result<FinalizeResponse> {
    Ok(FinalizeResponse::done().event(EventType::Normal, "Dropped", "the database is gone"))
}

fn last() -> Value {
    event("Normal", "Dropped", "the database is gone")
}

async fn started(world: &World) -> Operators {
    let handler = with_finalizer(sync, finalize);
    world.start(|builder| builder.register(recipe::config("cook"), handler)).await
}

fn event(event_type: &str, reason: &str, message: &str) -> Value {
    json!({"type": event_type, "reason": reason, "message": message})
}

/// Lets the handler return these Events, the last of which is new: it is sent after all others.
async fn return_events(world: &World, events: &[Value]) -> Vec<Value> {
    let spec = json!({"events": events, "children": [], "status": {}});
    world.apply(RECIPE, json!({"metadata": {"name": "r"}, "spec": spec})).await;
    until_recorded(world, &events[events.len() - 1]).await
}

/// The Events when this one is there, by reason.
async fn until_recorded(world: &World, last: &Value) -> Vec<Value> {
    let recorded = || async {
        let mut events = world.list(EVENT).await;
        events.retain(|event| event["regarding"]["name"] == "r");
        events.sort_by_key(|event| event["reason"].to_string());
        events
    };
    let is_last = |event: &Value| event["reason"] == last["reason"];
    eventually("the last Event", recorded, |events| events.iter().any(is_last)).await
}

#[operetta_harness::test(server)]
async fn an_event_is_recorded_once_for_as_long_as_it_is_returned_also_by_the_next_process() {
    let world = World::new().await;
    let operators = started(&world).await;
    let longest = (format!("A{}", "x".repeat(127)), "ö".repeat(512));
    let lasting = event("Warning", &longest.0, &longest.1);
    let recorded = return_events(&world, &[lasting.clone(), event("Normal", "B", "b")]).await;
    assert_eq!(recorded.len(), 2, "{recorded:#?}");
    let first = &recorded[0];
    assert_eq!((&first["type"], &first["reason"]), (&json!("Warning"), &json!(longest.0)));
    assert_eq!(first["note"], longest.1);
    assert_eq!(first["reportingController"], "operetta.dev/cook");
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(first["regarding"]["uid"], parent["metadata"]["uid"]);
    let recorded = return_events(&world, &[lasting.clone(), event("Normal", "C", "c")]).await;
    assert_eq!((recorded.len(), &recorded[0]), (3, first));

    operators.stop().await;
    let operators = started(&world).await;
    world.until_ready(RECIPE, "r").await;
    let again = [event("Normal", "B", "b"), lasting, event("Normal", "D", "d")];
    let recorded = return_events(&world, &again).await;
    assert_eq!((recorded.len(), &recorded[0]), (4, first));

    world.delete(RECIPE, "r").await;
    until_recorded(&world, &last()).await;
    operators.stop().await;
}
