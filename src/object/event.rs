//! A Kubernetes Event as a value: what happened to which object, how often, and when last. Keeps
//! only what users look for, and the beginning of long texts; no decision depends on it.

use std::{fmt, time::SystemTime};

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::ObjectKey;

/// An Event about an object. `Debug` shows no message.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ObjectEvent {
    /// The kind of the object that it is about.
    pub kind: String,
    /// The key of that object.
    pub key: ObjectKey,
    /// Whether it needs attention: its type is `Warning`.
    pub is_warning: bool,
    /// One `CamelCase` word.
    pub reason: String,
    /// A sentence for users.
    pub message: String,
    /// The component that reported it.
    pub source: String,
    /// How often it happened.
    pub count: u64,
    /// When it happened first, if known.
    pub first: Option<SystemTime>,
    /// When it happened last, if known.
    pub last: Option<SystemTime>,
}

/// The limit of the API for `events.k8s.io`; Events of the core group have none.
const MAX_MESSAGE: usize = 1024;
const MAX_WORD: usize = 256;

impl ObjectEvent {
    /// Reads an Event of the core group. Missing or invalid fields are empty: clients fill in count
    /// and times in two different ways.
    pub(crate) fn read(event: &Value) -> Self {
        let object = &event["involvedObject"];
        let (namespace, name) = (word(&object["namespace"]), word(&object["name"]));
        let (series, source) = (&event["series"], &event["source"]);
        let counts = [&series["count"], &event["count"]].into_iter().filter_map(Value::as_u64);
        let created = &event["metadata"]["creationTimestamp"];
        let times = |fields: &[&Value]| fields.iter().find_map(|field| time(field));
        Self {
            kind: word(&object["kind"]),
            key: ObjectKey::new(Some(&*namespace).filter(|it| !it.is_empty()), &name),
            is_warning: event["type"] == "Warning",
            reason: word(&event["reason"]),
            message: text(&event["message"], MAX_MESSAGE),
            source: first_of([&source["component"], &event["reportingComponent"]]),
            count: counts.max().unwrap_or(1).max(1),
            first: times(&[&event["firstTimestamp"], &event["eventTime"], created]),
            last: times(&[
                &series["lastObservedTime"],
                &event["lastTimestamp"],
                &event["eventTime"],
                &event["firstTimestamp"],
                created,
            ]),
        }
    }
}

impl fmt::Debug for ObjectEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectEvent({} about {} {})", self.reason, self.kind, self.key)
    }
}

fn first_of(fields: [&Value; 2]) -> String {
    let found = fields.into_iter().map(word).find(|word| !word.is_empty());
    found.unwrap_or_default()
}

fn word(value: &Value) -> String {
    text(value, MAX_WORD)
}

fn text(value: &Value, longest: usize) -> String {
    let text = value.as_str().unwrap_or_default();
    text[..text.floor_char_boundary(longest)].to_owned()
}

fn time(value: &Value) -> Option<SystemTime> {
    value.as_str()?.parse::<Timestamp>().ok().map(SystemTime::from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn both_forms_of_count_and_times_are_read() {
        let about = json!({"kind": "Pod", "namespace": "ns", "name": "p", "uid": "u"});
        let kubelet = ObjectEvent::read(&json!({
            "involvedObject": about, "type": "Warning", "reason": "Failed", "message": "no image",
            "source": {"component": "kubelet", "host": "n1"}, "reportingComponent": "",
            "count": 7, "eventTime": null,
            "firstTimestamp": "1970-01-01T00:00:10Z", "lastTimestamp": "1970-01-01T00:01:40Z",
        }));
        assert_eq!((kubelet.count, kubelet.first, kubelet.last), (7, Some(at(10)), Some(at(100))));
        assert_eq!((kubelet.source.as_str(), kubelet.is_warning), ("kubelet", true));
        assert_eq!((kubelet.kind.as_str(), kubelet.key.to_string().as_str()), ("Pod", "ns/p"));
        let scheduler = ObjectEvent::read(&json!({
            "involvedObject": about, "type": "Normal", "source": {},
            "reportingComponent": "default-scheduler", "eventTime": "1970-01-01T00:00:10.000000Z",
            "firstTimestamp": null, "lastTimestamp": null,
            "series": {"count": 3, "lastObservedTime": "1970-01-01T00:00:20.000000Z"},
        }));
        assert_eq!(
            (scheduler.count, scheduler.first, scheduler.last),
            (3, Some(at(10)), Some(at(20)))
        );
        assert_eq!((scheduler.source.as_str(), scheduler.is_warning), ("default-scheduler", false));
    }

    #[test]
    fn an_invalid_event_is_read_as_far_as_possible() {
        let long = "ä".repeat(2000);
        let odd = ObjectEvent::read(&json!({
            "message": long, "reason": 7, "count": -1, "eventTime": "yesterday", "series": [],
            "metadata": {"creationTimestamp": "1970-01-01T00:00:01Z"},
        }));
        assert_eq!((odd.message.len(), odd.reason.as_str(), odd.count), (MAX_MESSAGE, "", 1));
        assert_eq!((odd.key.namespace.as_deref(), odd.last), (None, Some(at(1))));
        assert!(!format!("{odd:?}").contains('ä'));
        assert_eq!(ObjectEvent::read(&Value::Null).count, 1);
    }
}
