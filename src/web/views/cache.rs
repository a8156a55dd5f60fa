//! The JSON form of the cache of a type.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

use super::object::{KeyView, Time, TypeView};
use crate::{
    board::{NamespaceState, TypeError, TypeSnapshot},
    object::{ResourceVersion, Uid, Undecodable},
};

/// The cache of a type, and its watch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Cache")]
pub(in crate::web) struct CacheView {
    #[serde(flatten)]
    ty: TypeView,
    /// Whether the first list was complete.
    synced: bool,
    /// How many objects are cached.
    objects: usize,
    /// How many bytes of JSON they have.
    bytes: usize,
    /// The resourceVersion up to which the cache is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_version: Option<String>,
    /// When the server last sent something, to the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<Time>,
    /// How long ago that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event_age_seconds: Option<u64>,
    /// How often the watch had to begin anew.
    restarts: u64,
    /// How often an object could not be read.
    undecodable_events: u64,
    /// The objects that cannot be read and are not cached; of very many only some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecodable: Vec<UndecodableView>,
    /// When the server last went back to an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    version_regressed: Option<Time>,
    /// Whether nothing of the type is deleted for now.
    deletions_held: bool,
    /// What is wrong with the watch now.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorView>,
    /// The namespaces that have a watch of their own; missing when one watch covers all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<NamespaceView>,
}

/// An object that cannot be read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Undecodable")]
struct UndecodableView {
    #[serde(flatten)]
    key: Option<KeyView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
    /// Why it cannot be read.
    message: String,
}

/// A watch of a type of which there are several.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NamespaceWatch")]
struct NamespaceView {
    /// Missing for all: while that is forbidden, others stand in for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Whether the first list was complete.
    synced: bool,
    /// What is wrong now.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorView>,
}

/// Why something cannot be watched.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WatchError")]
struct ErrorView {
    /// What the server said.
    message: String,
    /// The permission that would mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<String>,
}

impl CacheView {
    /// As it stands at this moment.
    pub(in crate::web) fn new(
        TypeSnapshot { store, state }: &TypeSnapshot,
        now: SystemTime,
    ) -> Self {
        // A clock that was set back makes an age of zero.
        let age = |event: SystemTime| now.duration_since(event).unwrap_or_default().as_secs();
        Self {
            ty: store.ty().into(),
            synced: store.is_synced(),
            objects: store.len(),
            bytes: store.bytes(),
            last_version: store.version().map(|version| version.to_string()),
            last_event: state.last_event.map(Time),
            last_event_age_seconds: state.last_event.map(age),
            restarts: state.restarts,
            undecodable_events: state.undecodable,
            undecodable: store.first_undecodable().iter().map(UndecodableView::from).collect(),
            version_regressed: state.version_regressed.map(Time),
            deletions_held: state.deletions_held,
            error: state.error.as_ref().map(ErrorView::from),
            namespaces: state.namespaces.iter().map(NamespaceView::from).collect(),
        }
    }
}

impl From<&Undecodable> for UndecodableView {
    fn from(object: &Undecodable) -> Self {
        Self {
            key: object.key().map(KeyView::from),
            uid: object.uid().map(Uid::to_string),
            resource_version: object.resource_version().map(ResourceVersion::to_string),
            message: object.why().to_owned(),
        }
    }
}

impl From<&NamespaceState> for NamespaceView {
    fn from(NamespaceState { namespace, synced, error }: &NamespaceState) -> Self {
        let error = error.as_ref().map(ErrorView::from);
        Self { namespace: namespace.clone(), synced: *synced, error }
    }
}

impl From<&TypeError> for ErrorView {
    fn from(TypeError { message, permission }: &TypeError) -> Self {
        Self { message: message.clone(), permission: permission.clone() }
    }
}
