//! Kubernetes Events are read within bounds, and errors are reported.

use std::time::{Duration, SystemTime};

use super::*;
use crate::board::EventSubject;

/// This number of objects, each with its own uid.
fn subjects(count: usize) -> Vec<EventSubject> {
    let subject = |number: usize| EventSubject {
        key: ObjectKey::namespaced("ns", &format!("p{number}")),
        uid: Uid::new(&format!("u{number:02}")),
    };
    (0..count).map(subject).collect()
}

fn event(name: &str, second: u32) -> serde_json::Value {
    let last = format!("1970-01-01T00:00:{second:02}Z");
    json!({
        "involvedObject": {"kind": "Pod", "namespace": "ns", "name": name},
        "type": "Warning", "reason": "Failed", "message": "no such image", "lastTimestamp": last,
    })
}

fn list(items: &[serde_json::Value], token: &str) -> Reply {
    (200, json!({"kind": "EventList", "metadata": {"continue": token}, "items": items}))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_read_by_uid_and_the_newest_comes_first() {
    let world = Setup::new(pods(), ChildConfig::apply()).before(|asked| {
        if asked.is_about("involvedObject.uid%3Du00") {
            list(&[event("p0", 10), event("p0", 30)], "")
        } else if asked.is_about("involvedObject.uid%3Du01") {
            list(&[event("p1", 20)], "")
        } else {
            refusal(404, "NotFound")
        }
    });
    let reading = world.context().read_events(&subjects(2)).await;
    let seen: Vec<_> =
        reading.events.iter().map(|event| (event.key.name.to_string(), event.last)).collect();
    let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    assert_eq!(seen, [("p0", 30), ("p1", 20), ("p0", 10)].map(|(n, s)| (n.to_owned(), at(s))));
    assert_eq!((reading.omitted, reading.objects_omitted, reading.errors.len()), (0, 0, 0));
    let asked = world.asked("GET");
    assert!(asked.iter().all(|it| it.is_about("/api/v1/namespaces/ns/events?")), "{asked:?}");
    assert!(asked.iter().all(|it| it.is_about("limit=500")), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_objects_and_events_is_bounded_and_the_rest_counted() {
    let many: Vec<_> = (0..30).map(|second| event("p", second)).collect();
    let world = Setup::new(pods(), ChildConfig::apply()).before(move |asked| {
        let token = if asked.is_about("u07") { "more" } else { "" };
        list(&many, token)
    });
    let reading = world.context().read_events(&subjects(33)).await;
    assert_eq!(world.asked("GET").len(), 20, "the first are the most urgent");
    assert_eq!(reading.objects_omitted, 13);
    assert_eq!(reading.events.len(), 100);
    assert_eq!(reading.omitted, 20 * 30 - 100 + 1, "and one list has more");
    assert!(reading.events.is_sorted_by(|a, b| a.last >= b.last));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_permission_is_named_once_and_readable_events_are_returned() {
    let world = Setup::new(pods(), ChildConfig::apply()).before(|asked| {
        if asked.is_about("/namespaces/default/") {
            list(&[event("node", 1)], "")
        } else {
            refusal(403, "Forbidden")
        }
    });
    let of_cluster = EventSubject { key: ObjectKey::cluster("node"), uid: Uid::new("n") };
    let about = [subjects(3), vec![of_cluster]].concat();
    let reading = world.context().read_events(&about).await;
    assert_eq!(reading.events.len(), 1);
    assert_eq!(reading.errors.len(), 1, "{:?}", reading.errors);
    let missing = "missing permission: list on events in `ns`; ";
    assert!(reading.errors[0].starts_with(missing), "{:?}", reading.errors);
}
