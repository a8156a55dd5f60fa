//! Kubernetes Events about a parent.

use std::time::SystemTime;

use http::Method;
use serde_json::{Value, json};

use super::{ApiError, Cluster, ErrorClass, api::ApiRequest};
use crate::object::{K8sType, Object, ObjectKey};

/// Whether an Event reports trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// All is well.
    Normal,
    /// Somebody should look.
    Warning,
}

/// Something that happened to a parent, for `kubectl describe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentEvent {
    /// Whether it reports trouble.
    pub kind: EventKind,
    /// One `CamelCase` word.
    pub reason: String,
    /// A sentence; cut at 1,000 bytes, as the API demands.
    pub message: String,
    /// What tells its name from those of other Events about the same parent.
    pub name: u64,
    /// How often it happened by now.
    pub count: u32,
}

const MAX_NOTE: usize = 1000;

impl Cluster {
    /// Tells an Event about `parent` in the name of an operator. One that happened before is
    /// counted up, or created if it is gone.
    pub async fn publish(
        &self,
        operator: &str,
        parent: &Object,
        event: &ParentEvent,
    ) -> Result<(), ApiError> {
        if event.count > 1 {
            match self.count_up(parent, event).await {
                Err(error) if error.class() == ErrorClass::Missing => {}
                counted => return counted,
            }
        }
        match self.create_event(operator, parent, event).await {
            // Told before, and the answer was lost.
            Err(error) if error.class() == ErrorClass::Conflict => Ok(()),
            created => created,
        }
    }

    async fn create_event(
        &self,
        operator: &str,
        parent: &Object,
        event: &ParentEvent,
    ) -> Result<(), ApiError> {
        let ty = event_type();
        let path = ty.collection_path(Some(namespace(parent)));
        let mut request = ApiRequest::get("create", &ty, path);
        request.method = Method::POST;
        request.body = body(operator, parent, event).to_string().into_bytes();
        self.send(request).await.map(drop)
    }

    async fn count_up(&self, parent: &Object, event: &ParentEvent) -> Result<(), ApiError> {
        let ty = event_type();
        let key = ObjectKey::namespaced(namespace(parent), &name(parent, event));
        let mut request = ApiRequest::get("patch", &ty, ty.object_path(&key));
        request.method = Method::PATCH;
        request.content_type = "application/merge-patch+json";
        request.body = json!({"series": series(event)}).to_string().into_bytes();
        self.send(request).await.map(drop)
    }
}

fn event_type() -> K8sType {
    K8sType::namespaced("events.k8s.io/v1", "Event", "events")
}

/// Events about cluster-scoped objects live in `default`.
fn namespace(parent: &Object) -> &str {
    parent.namespace().unwrap_or("default")
}

/// The API has a series begin with the second time.
fn series(event: &ParentEvent) -> Option<Value> {
    let time = micro_time(SystemTime::now());
    (event.count > 1).then(|| json!({"count": event.count, "lastObservedTime": time}))
}

fn body(operator: &str, parent: &Object, event: &ParentEvent) -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name(parent, event), "namespace": namespace(parent)},
        "type": match event.kind {
            EventKind::Normal => "Normal",
            EventKind::Warning => "Warning",
        },
        "reason": event.reason,
        "note": cut(&event.message),
        "action": "Reconcile",
        "reportingController": format!("operetta.dev/{operator}"),
        "reportingInstance": operator,
        "eventTime": micro_time(SystemTime::now()),
        "series": series(event),
        "regarding": {
            "apiVersion": parent.ty().api_version(),
            "kind": parent.ty().kind(),
            "namespace": parent.namespace(),
            "name": parent.name(),
            "uid": parent.uid().as_str(),
        },
    })
}

fn name(parent: &Object, event: &ParentEvent) -> String {
    format!("{}{:016x}", name_prefix(parent.name()), event.name)
}

/// A prefix of names: no dot or dash may come before the dash.
fn name_prefix(name: &str) -> String {
    let short = format!("{name:.50}");
    format!("{}-", short.trim_end_matches(['.', '-']))
}

fn cut(message: &str) -> &str {
    let mut end = message.len().min(MAX_NOTE);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    &message[..end]
}

fn micro_time(time: SystemTime) -> Value {
    use k8s_openapi::{apimachinery::pkg::apis::meta::v1::MicroTime, jiff::Timestamp};
    let timestamp = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    serde_json::to_value(MicroTime(timestamp)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_cut_between_characters() {
        assert_eq!(cut(&"ä".repeat(600)).len(), MAX_NOTE);
        assert_eq!(cut(&format!("x{}", "ä".repeat(600))).len(), MAX_NOTE - 1);
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn a_name_is_a_prefix_of_names() {
        assert_eq!(name_prefix("a"), "a-");
        assert_eq!(name_prefix(&format!("{}.b", "x".repeat(49))), format!("{}-", "x".repeat(49)));
    }

    #[test]
    fn times_have_microseconds_as_the_api_demands() {
        let time = micro_time(SystemTime::UNIX_EPOCH);
        assert_eq!(time, "1970-01-01T00:00:00.000000Z");
    }
}
