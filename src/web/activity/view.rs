//! The JSON of the timeline.

use schemars::JsonSchema;
use serde::Serialize;

use super::sentence::{dropped, sentence};
use crate::{
    board::{ActivityPage, Line, Names},
    object::ObjectKey,
    web::{
        page::ListMeta,
        views::{KeyView, Time},
    },
};

/// What happened, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::web) struct ActivityList {
    items: Vec<ActivityView>,
    metadata: ListMeta,
    /// The process that remembers this, where several share the parents; the others have their own activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    /// Where entries are missing, because the memory for them is limited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<DroppedView>,
}

/// What happened once, several times, or to many objects at about the same time.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Activity")]
struct ActivityView {
    kind: &'static str,
    /// When it happened, the last time.
    time: Time,
    /// When it happened the first time.
    since: Time,
    /// How often it happened, each child or parent on its own.
    times: u64,
    /// A sentence.
    message: String,
    #[serde(skip_serializing_if = "is_empty")]
    operators: NamesView,
    #[serde(skip_serializing_if = "KeysView::is_empty")]
    parents: KeysView,
    /// Type and key of each.
    #[serde(skip_serializing_if = "is_empty")]
    children: NamesView,
    /// The JSON paths that were written.
    #[serde(skip_serializing_if = "is_empty")]
    fields: NamesView,
    /// Errors, reasons, the Lease, or what was denied.
    #[serde(skip_serializing_if = "is_empty")]
    details: NamesView,
    /// The field manager whose change was undone, the user, or the kind of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// The first of several names.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Names")]
struct NamesView {
    count: usize,
    /// At most ten.
    names: Vec<String>,
}

/// The first of several objects.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Keys")]
struct KeysView {
    count: usize,
    /// At most ten.
    items: Vec<KeyView>,
}

/// Entries that were dropped.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Dropped")]
struct DroppedView {
    /// What they are about.
    about: &'static str,
    /// When the newest of them happened.
    until: Time,
    /// A sentence.
    message: String,
}

impl ActivityList {
    pub(super) fn new(page: &ActivityPage, metadata: ListMeta) -> Self {
        let dropped = page.dropped.iter().map(|(shelf, at)| DroppedView {
            about: shelf.name(),
            until: Time(*at),
            message: dropped((*shelf, *at)),
        });
        Self {
            items: page.lines.iter().map(ActivityView::new).collect(),
            metadata,
            member: None,
            dropped: dropped.collect(),
        }
    }

    /// The same of a member of a group.
    pub(super) fn of(self, member: Option<String>) -> Self {
        Self { member, ..self }
    }
}

impl ActivityView {
    fn new(line: &Line) -> Self {
        Self {
            kind: line.kind.name(),
            time: Time(line.last),
            since: Time(line.first),
            times: line.times,
            message: sentence(line),
            operators: names(&line.operators),
            parents: KeysView::new(&line.parents),
            children: names(&line.children),
            fields: names(&line.fields),
            details: names(&line.details),
            by: line.who.clone(),
        }
    }
}

impl KeysView {
    fn new(keys: &Names<ObjectKey>) -> Self {
        Self { count: keys.count, items: keys.kept.iter().map(KeyView::from).collect() }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

fn names<T: ToString>(names: &Names<T>) -> NamesView {
    NamesView { count: names.count, names: names.kept.iter().map(T::to_string).collect() }
}

fn is_empty(names: &NamesView) -> bool {
    names.count == 0
}
