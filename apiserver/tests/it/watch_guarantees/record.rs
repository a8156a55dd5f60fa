//! The streams of watches, as they were received.

use futures::StreamExt;
use kube::{
    Api,
    api::{DynamicObject, WatchEvent, WatchParams},
};

/// The last object that is written.
pub(crate) const LAST: &str = "w3-1";

/// A watch to record.
pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) parameters: WatchParams,
    /// Closed and opened again at the last version after so many events.
    pub(crate) resumed_after: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Added,
    Modified,
    Deleted,
    Bookmark,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) tier: String,
    pub(crate) number: String,
    /// A bookmark after the initial state.
    pub(crate) ends_initial: bool,
}

/// What one watch received.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) name: &'static str,
    pub(crate) selector: Option<String>,
    pub(crate) fields: Option<String>,
    pub(crate) has_initial: bool,
    pub(crate) events: Vec<Event>,
}

/// Everything that is to be validated.
pub(crate) struct Recorded {
    /// The version before the first write.
    pub(crate) from: u64,
    /// The versions that writers were answered.
    pub(crate) acknowledged: Vec<u64>,
    /// The first is that of everything.
    pub(crate) streams: Vec<Received>,
}

/// Watches from a version until the last write.
pub(crate) async fn record(api: Api<DynamicObject>, stream: Stream, from: u64) -> Received {
    let Stream { name, parameters, resumed_after } = stream;
    let mut events: Vec<Event> = Vec::new();
    let mut version = from;
    'ended: loop {
        let mut watch = api.watch(&parameters, &version.to_string()).await.unwrap().boxed();
        for _ in 0..resumed_after {
            let event = read(watch.next().await.expect("the server keeps watches open").unwrap());
            version = event.version;
            let (is_last, event) = event.into_parts();
            events.push(event);
            if is_last {
                break 'ended;
            }
        }
    }
    Received {
        name,
        selector: parameters.label_selector.clone(),
        fields: parameters.field_selector.clone(),
        has_initial: parameters.send_initial_events,
        events,
    }
}

struct Read {
    version: u64,
    is_last: bool,
    event: Event,
}

impl Read {
    fn into_parts(self) -> (bool, Event) {
        (self.is_last, self.event)
    }
}

fn read(event: WatchEvent<DynamicObject>) -> Read {
    let (kind, object) = match event {
        WatchEvent::Added(object) => (Kind::Added, object),
        WatchEvent::Modified(object) => (Kind::Modified, object),
        WatchEvent::Deleted(object) => (Kind::Deleted, object),
        WatchEvent::Bookmark(bookmark) => return bookmark_of(&bookmark.metadata),
        WatchEvent::Error(error) => panic!("{error}"),
    };
    let metadata = &object.metadata;
    let label = |name: &str| metadata.labels.as_ref().and_then(|labels| labels.get(name)).cloned();
    let name = metadata.name.clone().unwrap();
    let tier = label("tier").unwrap_or_default();
    let version = metadata.resource_version.as_ref().unwrap().parse().unwrap();
    // Each watch sees the end of this object, as its tier changes: it enters one selection and leaves the other.
    let is_over = tier == "gold" || kind == Kind::Deleted;
    let is_last = label("last").is_some() && name == LAST && is_over;
    let number = object.data["data"]["number"].as_str().unwrap_or_default().to_owned();
    let event = Event { kind, name, version, tier, number, ends_initial: false };
    Read { version, is_last, event }
}

fn bookmark_of(metadata: &kube::core::watch::BookmarkMeta) -> Read {
    let version = metadata.resource_version.parse().unwrap();
    let ends_initial = metadata.annotations.contains_key("k8s.io/initial-events-end");
    let event = Event {
        kind: Kind::Bookmark,
        name: String::new(),
        version,
        tier: String::new(),
        number: String::new(),
        ends_initial,
    };
    Read { version, is_last: false, event }
}
