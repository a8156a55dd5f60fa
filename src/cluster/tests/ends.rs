//! Deletions of objects that cannot be read.

use futures::StreamExt;
use http_body_util::BodyStream;

use super::*;

/// An event of an object that cannot be read, because of one of its fields.
fn event(ty: &str, version: &str, field: (&str, Value)) -> Value {
    let mut object = item("a");
    object["metadata"]["resourceVersion"] = json!(version);
    object["metadata"]["generation"] = json!("odd");
    object["metadata"][field.0] = field.1;
    json!({"type": ty, "object": object})
}

/// An object that is nested too deep, and is gone.
fn deep_event() -> Value {
    let mut object = item("a");
    object["metadata"]["resourceVersion"] = json!("3");
    object["spec"] = (0..150).fold(json!(1), |inner, _| json!([inner]));
    json!({"type": "DELETED", "object": object})
}

/// Lines, and then silence.
fn lines(values: &[Value]) -> Answer {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let said = BodyStream::new(Full::from(texts.join("\n") + "\n"));
    BodyExt::boxed(StreamBody::new(said.chain(futures::stream::pending())))
}

/// How often a server is listed that tells of the end of its object in these events, until the object
/// has left the store, and whether its watch was lost meanwhile.
async fn noticed(events: Vec<Value>) -> (usize, bool) {
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
    let (say, mut heard) = mpsc::unbounded_channel();
    let store = looping(cluster, move |note| drop(say.send(note)));
    let (mut was_lost, mut is_gone) = (false, false);
    while !is_gone {
        match heard.recv().await.expect("the loop never ends") {
            WatchNote::Lost => was_lost = true,
            WatchNote::Changed(changes) => is_gone = changes.iter().any(|it| it.after.is_none()),
            _ => {}
        }
    }
    assert!(store.reader().is_empty() && store.reader().undecodable().is_empty());
    (lists.load(Ordering::Relaxed), was_lost)
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_and_cannot_be_read_leaves_the_store_by_its_name() {
    let odd = |ty, version| event(ty, version, ("generation", json!("odd")));
    for events in [
        vec![odd("DELETED", "3")],
        vec![deep_event()],
        vec![odd("MODIFIED", "2"), odd("DELETED", "3")],
    ] {
        assert_eq!(noticed(events.clone()).await, (1, false), "{events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_and_cannot_be_told_apart_is_found_by_a_list() {
    for field in ["name", "uid", "resourceVersion"] {
        let events = vec![event("DELETED", "3", (field, json!(7)))];
        assert_eq!(noticed(events).await, (2, true), "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_goes_while_a_list_is_streamed_and_cannot_be_read_is_not_of_the_list() {
    let metadata = json!({
        "resourceVersion": "3", "annotations": {"k8s.io/initial-events-end": "true"},
    });
    let events = [
        json!({"type": "ADDED", "object": item("a")}),
        event("DELETED", "3", ("generation", json!("odd"))),
        json!({"type": "BOOKMARK", "object": {"metadata": metadata}}),
    ];
    let cluster = served_by(move |_| (200, lines(&events))).with_settings(streaming());
    let (say, mut heard) = mpsc::unbounded_channel();
    let store = looping(cluster, move |note| drop(say.send(note)));
    loop {
        match heard.recv().await.expect("the loop never ends") {
            WatchNote::Synced(_) => break,
            note => assert!(!matches!(note, WatchNote::Lost), "nothing is listed anew"),
        }
    }
    assert!(store.reader().is_empty());
}
