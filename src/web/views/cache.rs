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
    /// The bytes of their JSON.
    bytes: usize,
    /// The resourceVersion up to which the cache is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_version: Option<String>,
    /// When the server last sent something, to the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<Time>,
    /// The age of that event.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event_age_seconds: Option<u64>,
    /// How often the watch restarted.
    restarts: u64,
    /// How often an object could not be decoded.
    undecodable_events: u64,
    /// The objects that cannot be decoded and are not cached; only some if they are very many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecodable: Vec<UndecodableView>,
    /// When the server last returned an earlier resourceVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    version_regressed: Option<Time>,
    /// Whether deletions of the type are held.
    deletions_held: bool,
    /// The current error of the watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<TypeError>,
    /// The namespaces with their own watch; absent if one watch covers all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<NamespaceState>,
}

/// An object that cannot be decoded.
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
    /// Why it cannot be decoded.
    message: String,
}

impl CacheView {
    /// The current state.
    pub(in crate::web) fn new(
        TypeSnapshot { store, state }: &TypeSnapshot,
        now: SystemTime,
    ) -> Self {
        // The age is zero after the clock was set back.
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
            error: state.error.clone(),
            namespaces: state.namespaces.clone(),
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
