//! The Kubernetes Events about a parent and its objects: which objects are queried, and how Events are
//! shown. The engine reads them.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    endpoint::Parameter,
    redact::Secrets,
    tree::Node,
    views::{KeyView, Time},
};
use crate::{
    board::{Board, EventReading, EventSubject},
    object::{ObjectEvent, ObjectKey, Uid},
};

/// The Kubernetes Events about a parent and its children.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Events")]
pub(super) struct EventsView {
    /// Newest first.
    pub(super) items: Vec<EventView>,
    /// The minimum number of further Events.
    pub(super) omitted: usize,
    /// The number of objects that were not queried or got no answer in time.
    pub(super) objects_omitted: usize,
    /// Why Events could not be read, for example a missing permission.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<String>,
}

/// An Event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Event")]
pub(super) struct EventView {
    /// When it last happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_seen: Option<Time>,
    /// When it first happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_seen: Option<Time>,
    /// `Normal` or `Warning`.
    pub(super) r#type: &'static str,
    /// One word.
    pub(super) reason: String,
    /// The object that it is about.
    pub(super) object: EventObject,
    /// A sentence.
    pub(super) message: String,
    /// How often it happened.
    pub(super) count: u64,
    /// The component that reported it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) source: String,
}

/// The object of an Event.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EventObject {
    pub(super) kind: String,
    #[serde(flatten)]
    pub(super) key: KeyView,
}

pub(super) const EVENTS: Parameter = Parameter::switch(
    "events",
    "the Events about it and its children, read from the API server now",
);

pub(super) async fn read(
    board: &Board,
    operator: &str,
    (key, uid): (&ObjectKey, &Uid),
    children: &[Node],
) -> EventsView {
    match board.read_events(operator, subjects(key, uid, children)).await {
        Ok(EventReading { events, omitted, objects_omitted, errors }) => {
            let items = events.into_iter().map(EventView::from).collect();
            EventsView { items, omitted, objects_omitted, errors }
        }
        Err(error) => EventsView { errors: vec![error.to_string()], ..EventsView::default() },
    }
}

impl EventsView {
    pub(super) fn without(mut self, secrets: &Secrets) -> Self {
        for event in &mut self.items {
            event.message = secrets.text(&event.message);
        }
        self
    }
}

/// The parent, then objects that are not ready, then the rest.
fn subjects(key: &ObjectKey, uid: &Uid, children: &[Node]) -> Vec<EventSubject> {
    let mut below = Vec::new();
    gather(children, &mut below);
    below.sort_by_key(|(urgency, _)| *urgency);
    let parent = EventSubject { key: key.clone(), uid: uid.clone() };
    std::iter::once(parent).chain(below.into_iter().map(|(_, subject)| subject)).collect()
}

fn gather(nodes: &[Node], into: &mut Vec<(u8, EventSubject)>) {
    for node in nodes {
        // A missing child has no uid. Events about it are reported for its parent.
        if let Some(facts) = &node.facts {
            let key = ObjectKey::new(node.key.namespace.as_deref(), &node.key.name);
            let subject = EventSubject { key, uid: Uid::new(&facts.uid) };
            into.push((urgency(node.readiness.state), subject));
        }
        gather(&node.children, into);
    }
}

/// By the names of `ReadyState`.
fn urgency(state: &str) -> u8 {
    match state {
        "Failed" => 0,
        "Progressing" | "Terminating" => 1,
        _ => 2,
    }
}

impl From<ObjectEvent> for EventView {
    fn from(event: ObjectEvent) -> Self {
        let ObjectEvent { kind, key, is_warning, reason, message, source, count, first, last } =
            event;
        Self {
            last_seen: last.map(Time),
            first_seen: first.map(Time),
            r#type: if is_warning { "Warning" } else { "Normal" },
            reason,
            object: EventObject { kind, key: (&key).into() },
            message,
            count,
            source,
        }
    }
}
