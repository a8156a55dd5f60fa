//! The Events that operators have recorded, for assertions.

use k8s_openapi::api::events::v1::Event;
use kube::{Api, api::ListParams};
use serde::{Serialize, de::DeserializeOwned};

use super::{Objects, eventually};
use crate::operator::EventType;

/// An Event as it is on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Its type.
    pub event_type: EventType,
    /// Its reason, such as `HandlerFailed`.
    pub reason: String,
    /// Its message.
    pub message: String,
    /// How often it happened.
    pub count: u32,
}

impl<K: Serialize + DeserializeOwned> Objects<'_, K> {
    /// The Events about an object, also after its end, from whomever, the oldest first. Those that operators have
    /// recorded are there when they have [settled](super::TestCluster::settled).
    ///
    /// # Errors
    /// The server refuses the request.
    pub async fn events(&self, name: &str) -> kube::Result<Vec<RecordedEvent>> {
        let key = self.key(name);
        let namespace = key.namespace.as_deref().unwrap_or("default");
        let api: Api<Event> = Api::namespaced(self.cluster.client(), namespace);
        let mut events = api.list(&ListParams::default()).await?.items;
        events.retain(|event| {
            event.regarding.as_ref().is_some_and(|about| {
                about.kind.as_deref() == Some(self.ty.kind())
                    && about.api_version.as_deref() == Some(self.ty.api_version())
                    && about.name.as_deref() == Some(&*key.name)
            })
        });
        events.sort_by_key(|event| event.event_time.as_ref().map(|time| time.0));
        Ok(events.into_iter().map(RecordedEvent::from).collect())
    }

    /// Waits until there is an Event of this reason about an object, and returns the oldest.
    ///
    /// # Panics
    /// After a minute, with the Events.
    pub async fn eventually_event(&self, name: &str, reason: &str) -> RecordedEvent {
        let what = format!("an Event {reason} about {} {}", self.ty.kind(), self.key(name));
        let of_reason = |events: &kube::Result<Vec<RecordedEvent>>| {
            let mut events = events.iter().flatten();
            events.find(|event| event.reason == reason).cloned()
        };
        let seen = eventually(&what, || self.events(name), |events| of_reason(events).is_some());
        of_reason(&seen.await).expect("it was seen")
    }
}

impl From<Event> for RecordedEvent {
    fn from(event: Event) -> Self {
        let is_warning = event.type_.as_deref() == Some("Warning");
        let event_type = if is_warning { EventType::Warning } else { EventType::Normal };
        let count = event.series.map_or(1, |series| u32::try_from(series.count).unwrap_or(1));
        let (reason, message) = (event.reason.unwrap_or_default(), event.note.unwrap_or_default());
        Self { event_type, reason, message, count }
    }
}
