//! Events of simulated controllers. The same Event about the same object is one object with a count.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    decision::{Decision, Notice},
    object::{number, text, time},
    template,
};
use crate::clock::seconds;

/// How long an Event is kept.
const LIFE: SignedDuration = SignedDuration::from_hours(1);

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

/// Deletes an Event that was recorded here an hour ago, as the real server does with all of them.
pub(super) fn decide(event: &Value, now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    let is_own = text(&event["reportingComponent"]).starts_with("simulated-");
    if let Some(last) = time(&event["lastTimestamp"]).filter(|_| is_own)
        && decision.has_passed(last, LIFE, now)
    {
        decision.delete(event);
    }
    decision
}

/// An Event that happened again.
pub(super) fn again(event: &Value, now: Timestamp) -> Value {
    let mut event = event.clone();
    event["count"] = json!(number(&event["count"]) + 1);
    event["lastTimestamp"] = json!(seconds(now));
    event
}
