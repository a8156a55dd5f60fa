//! Events of simulated controllers. The same Event about the same object is one object with a count.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{decision::Notice, object::number, template};
use crate::clock::seconds;

/// A new Event.
pub(super) fn event(notice: &Notice, now: Timestamp) -> Value {
    let Notice { about, kind, reason, message, source } = notice;
    let namespace = if about.namespace.is_empty() { "default" } else { &about.namespace };
    let suffix = template::hash(&json!([about.uid, reason, message, source]), 0);
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": { "name": format!("{}.{suffix}", about.name), "namespace": namespace },
        "involvedObject": {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
            "resourceVersion": about.version,
        },
        "type": kind,
        "reason": reason,
        "message": message,
        "source": { "component": source },
        "reportingComponent": source,
        "reportingInstance": "",
        "count": 1,
        "firstTimestamp": seconds(now),
        "lastTimestamp": seconds(now),
        "eventTime": null,
    })
}

/// An Event that happened again.
pub(super) fn again(event: &Value, now: Timestamp) -> Value {
    let mut event = event.clone();
    event["count"] = json!(number(&event["count"]) + 1);
    event["lastTimestamp"] = json!(seconds(now));
    event
}
