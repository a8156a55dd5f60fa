//! Deletions of undecodable objects.

use futures::StreamExt;
use http_body_util::BodyStream;

use super::*;

/// An event of an object that is undecodable because of one of its fields.
fn event(ty: &str, version: &str, field: (&str, Value)) -> Value {
    let mut object = item("a");
    object["metadata"]["resourceVersion"] = json!(version);
    object["metadata"]["generation"] = json!("odd");
    object["metadata"][field.0] = field.1;
    json!({"type": ty, "object": object})
}

/// The deletion of an object that is nested too deeply.
fn deletion_of_deep_object() -> Value {
    let mut object = item("a");
    object["metadata"]["resourceVersion"] = json!("3");
    object["spec"] = (0..150).fold(json!(1), |inner, _| json!([inner]));
    json!({"type": "DELETED", "object": object})
}

/// Lines, after which the body stays open.
fn lines(values: &[Value]) -> Answer {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let sent = BodyStream::new(Full::from(texts.join("\n") + "\n"));
    BodyExt::boxed(StreamBody::new(sent.chain(futures::stream::pending())))
}

/// How many lists are read until the object that these events delete has left the store, and whether the
/// watch was lost meanwhile.
async fn lists_until_deleted(events: Vec<Value>) -> (usize, bool) {
    let (lists, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = lists.clone();
    let cluster = served_by(move |query| {
        let is_first = asked.fetch_add(1, Ordering::Relaxed) < 2;
        if is_watch(query) {
            return (200, if is_first { lines(&events) } else { silent() });
        }
        let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        let items = if is_first { vec![item("a")] } else { Vec::new() };
        let version = if is_first { "1" } else { "9" };
        (200, line(&json!({"metadata": {"resourceVersion": version}, "items": items})))
    });
    let (sender, mut received) = mpsc::unbounded_channel();
    let store = looping(cluster, move |note| drop(sender.send(note)));
    let (mut was_lost, mut is_gone) = (false, false);
    while !is_gone {
        match received.recv().await.expect("the loop never ends") {
            WatchNote::Lost => was_lost = true,
            WatchNote::Changed(changes) => is_gone = changes.iter().any(|it| it.after.is_none()),
            _ => {}
        }
    }
    assert!(store.reader().is_empty() && store.reader().undecodable().is_empty());
    (lists.load(Ordering::Relaxed), was_lost)
}

#[tokio::test(start_paused = true)]
async fn the_deletion_of_an_undecodable_object_removes_it_from_the_store() {
    let undecodable = |ty, version| event(ty, version, ("generation", json!("odd")));
    for events in [
        vec![undecodable("DELETED", "3")],
        vec![deletion_of_deep_object()],
        vec![undecodable("MODIFIED", "2"), undecodable("DELETED", "3")],
    ] {
        assert_eq!(lists_until_deleted(events.clone()).await, (1, false), "{events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_deletion_of_an_object_that_cannot_be_identified_is_found_by_a_list() {
    for field in ["name", "uid", "resourceVersion"] {
        let events = vec![event("DELETED", "3", (field, json!(7)))];
        assert_eq!(lists_until_deleted(events).await, (2, true), "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_that_is_deleted_while_a_list_is_streamed_is_not_in_the_list() {
    let metadata = json!({
        "resourceVersion": "3", "annotations": {"k8s.io/initial-events-end": "true"},
    });
    let events = [
        json!({"type": "ADDED", "object": item("a")}),
        event("DELETED", "3", ("generation", json!("odd"))),
        json!({"type": "BOOKMARK", "object": {"metadata": metadata}}),
    ];
    let cluster = served_by(move |_| (200, lines(&events))).with_settings(streaming());
    let (sender, mut received) = mpsc::unbounded_channel();
    let store = looping(cluster, move |note| drop(sender.send(note)));
    loop {
        match received.recv().await.expect("the loop never ends") {
            WatchNote::Synced(_) => break,
            note => assert!(!matches!(note, WatchNote::Lost), "nothing is listed again"),
        }
    }
    assert!(store.reader().is_empty());
}
