//! Creates Kubernetes Events about parents and undecodable objects.
//!
//! Not by the `Recorder` of `kube::runtime`: that counts repeated Events in a cache of its own. Here the count belongs to
//! the memory of the parent, and the request has the metrics and limits of all others.

use std::time::SystemTime;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

use super::{Cluster, api::ApiRequest};
use crate::{
    object::{K8sType, ObjectKey, OneLine},
    reply::{ApiError, ErrorClass, EventKind, IfKnown, ParentEvent, Regarding},
};

/// What the API accepts.
const MAX_NOTE: usize = 1024;

impl Cluster {
    /// Publishes an Event of an operator. The count of a repeated one is increased, or the Event is
    /// created again if it no longer exists.
    pub(crate) async fn publish(
        &self,
        operator: &str,
        about: &Regarding,
        event: &ParentEvent,
    ) -> Result<(), ApiError> {
        if event.count > 1 {
            match self.repeated(about, event).await {
                Err(error) if error.class() == ErrorClass::Missing => {}
                counted => return counted,
            }
        }
        match self.create_event(operator, about, event).await {
            Err(error) if error.class() == ErrorClass::Conflict => match event.if_known {
                IfKnown::Keep => Ok(()),
                IfKnown::CountUp => self.repeated(about, event).await,
            },
            created => created,
        }
    }

    async fn create_event(
        &self,
        operator: &str,
        about: &Regarding,
        event: &ParentEvent,
    ) -> Result<(), ApiError> {
        let ty = event_type();
        let path = ty.collection_path(Some(namespace(about)));
        let mut request = ApiRequest::get("create", &ty, path);
        request.method = Method::POST;
        request.body = body(operator, about, event).to_string().into_bytes();
        self.send(request).await.map(drop)
    }

    /// Counts up an Event. That of an earlier process, or from before the counted time, may have a higher count.
    async fn repeated(&self, about: &Regarding, event: &ParentEvent) -> Result<(), ApiError> {
        let count = match event.if_known {
            IfKnown::Keep => event.count,
            IfKnown::CountUp => event.count.max(self.known_count(about, event).await? + 1),
        };
        let event = ParentEvent { count, ..event.clone() };
        self.patch_event(about, &event, &json!({"series": series(&event)})).await.map(drop)
    }

    /// The count on the server. An empty patch reads it, which needs no permission to read.
    async fn known_count(&self, about: &Regarding, event: &ParentEvent) -> Result<u32, ApiError> {
        let known = self.patch_event(about, event, &json!({})).await?;
        let known: Value = serde_json::from_slice(&known).unwrap_or_default();
        let count = known["series"]["count"].as_u64().unwrap_or(1);
        Ok(u32::try_from(count).unwrap_or(u32::MAX).min(u32::MAX - 1))
    }

    async fn patch_event(
        &self,
        about: &Regarding,
        event: &ParentEvent,
        patch: &Value,
    ) -> Result<Bytes, ApiError> {
        let ty = event_type();
        let key = ObjectKey::namespaced(namespace(about), &name(about, event));
        let mut request = ApiRequest::get("patch", &ty, ty.object_path(&key));
        request.method = Method::PATCH;
        request.content_type = "application/merge-patch+json";
        request.body = patch.to_string().into_bytes();
        self.send(request).await
    }
}

fn event_type() -> K8sType {
    K8sType::namespaced("events.k8s.io/v1", "Event", "events")
}

/// Events about cluster-scoped objects are in `default`.
fn namespace(about: &Regarding) -> &str {
    about.key.namespace.as_deref().unwrap_or("default")
}

/// In the API a series begins with the second occurrence.
fn series(event: &ParentEvent) -> Option<Value> {
    let time = micro_time(event.at);
    (event.count > 1).then(|| json!({"count": event.count, "lastObservedTime": time}))
}

fn body(operator: &str, about: &Regarding, event: &ParentEvent) -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name(about, event), "namespace": namespace(about)},
        "type": match event.kind {
            EventKind::Normal => "Normal",
            EventKind::Warning => "Warning",
        },
        "reason": event.reason,
        "note": cut(&OneLine(&event.message).to_string()),
        "action": "Reconcile",
        "reportingController": format!("operetta.dev/{operator}"),
        "reportingInstance": operator,
        "eventTime": micro_time(event.at),
        "series": series(event),
        "regarding": {
            "apiVersion": about.ty.api_version(),
            "kind": about.ty.kind(),
            "namespace": about.key.namespace.as_deref(),
            "name": &*about.key.name,
            "uid": about.uid,
        },
    })
}

fn name(about: &Regarding, event: &ParentEvent) -> String {
    format!("{}{:016x}", name_prefix(&about.key.name), event.name)
}

/// Returns a valid prefix of Event names. Some types allow more characters in names than Events do,
/// and neither a dot nor a dash may precede the dash.
fn name_prefix(name: &str) -> String {
    let is_invalid = |char: char| !matches!(char, 'a'..='z' | '0'..='9' | '.' | '-');
    let short = format!("{name:.50}").to_lowercase().replace(is_invalid, "-");
    format!("{}-", short.trim_matches(['.', '-']))
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
    use std::{convert::Infallible, sync::Mutex};

    use http::{Request, Response};
    use kube::{Client, client::Body};

    use super::*;
    use crate::{metrics::Metrics, object::KeptManagers};

    /// Servers delete an Event after an hour.
    #[tokio::test]
    async fn a_repeated_event_that_no_longer_exists_is_created_again() {
        let methods = std::sync::Arc::new(Mutex::new(Vec::new()));
        let received = methods.clone();
        let serve = move |request: Request<Body>| {
            received.lock().unwrap().push(request.method().clone());
            let gone = json!({"kind": "Status", "code": 404, "details": {"name": "a"}});
            let is_new = request.method() == Method::POST;
            let (code, answer) = if is_new { (201, json!({})) } else { (404, gone) };
            let body = Body::from(answer.to_string().into_bytes());
            async move { Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap()) }
        };
        let client = Client::new(tower::service_fn(serve), "ns");
        let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let about = Regarding { ty, key: ObjectKey::namespaced("ns", "a"), uid: None };
        let (reason, message) = ("Reason".to_owned(), "message".to_owned());
        let (kind, at) = (EventKind::Warning, SystemTime::UNIX_EPOCH);
        let if_known = IfKnown::Keep;
        let event = ParentEvent { kind, reason, message, name: 1, count: 2, at, if_known };
        cluster.publish("op", &about, &event).await.unwrap();
        assert_eq!(*methods.lock().unwrap(), [Method::PATCH, Method::POST]);
    }

    /// As after a restart, or more than the counted time later.
    #[tokio::test]
    async fn an_event_of_an_earlier_process_is_kept_or_counted_up() {
        for (if_known, count, expected) in [
            (IfKnown::Keep, 1, vec!["POST"]),
            (IfKnown::CountUp, 1, vec!["POST", "PATCH null", "PATCH 6"]),
            (IfKnown::CountUp, 2, vec!["PATCH null", "PATCH 6"]),
            (IfKnown::CountUp, 9, vec!["PATCH null", "PATCH 9"]),
        ] {
            let asked = std::sync::Arc::new(Mutex::new(Vec::new()));
            let received = asked.clone();
            let serve = move |request: Request<Body>| {
                let received = received.clone();
                async move {
                    use http_body_util::BodyExt;
                    let (head, body) = request.into_parts();
                    let body = body.collect().await.unwrap().to_bytes();
                    let body: Value = serde_json::from_slice(&body).unwrap();
                    let (code, answer, line) = if head.method == Method::POST {
                        let reason = "AlreadyExists";
                        let known = json!({"kind": "Status", "code": 409, "reason": reason});
                        (409, known, "POST".to_owned())
                    } else {
                        let line = format!("PATCH {}", body["series"]["count"]);
                        (200, json!({"series": {"count": 5}}), line)
                    };
                    received.lock().unwrap().push(line);
                    let body = Body::from(answer.to_string().into_bytes());
                    Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
                }
            };
            let client = Client::new(tower::service_fn(serve), "ns");
            let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
            let ty = K8sType::namespaced("example.com/v1", "App", "apps");
            let about = Regarding { ty, key: ObjectKey::namespaced("ns", "a"), uid: None };
            let (reason, message) = ("Reason".to_owned(), "message".to_owned());
            let (kind, at) = (EventKind::Warning, SystemTime::UNIX_EPOCH);
            let event = ParentEvent { kind, reason, message, name: 1, count, at, if_known };
            cluster.publish("op", &about, &event).await.unwrap();
            assert_eq!(*asked.lock().unwrap(), expected);
        }
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        assert_eq!(cut(&"ä".repeat(600)).len(), MAX_NOTE);
        assert_eq!(cut(&format!("x{}", "ä".repeat(600))).len(), MAX_NOTE - 1);
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn the_name_of_an_object_becomes_a_valid_prefix_of_event_names() {
        assert_eq!(name_prefix("a"), "a-");
        assert_eq!(name_prefix("system:Node"), "system-node-");
        assert_eq!(name_prefix(&format!("{}.b", "x".repeat(49))), format!("{}-", "x".repeat(49)));
    }

    #[test]
    fn times_have_microseconds_as_the_api_requires() {
        let time = micro_time(SystemTime::UNIX_EPOCH);
        assert_eq!(time, "1970-01-01T00:00:00.000000Z");
    }
}
