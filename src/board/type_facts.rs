//! The values on the board about watched types.

use std::{sync::Arc, time::SystemTime};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{object::SecretFields, store::StoreReader};

/// The state of the watch of a type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TypeState {
    /// Whether the first list was complete.
    pub(crate) synced: bool,
    pub(crate) error: Option<TypeError>,
    /// Since when the server has not answered.
    pub(crate) unreachable_since: Option<SystemTime>,
    /// When the server last sent something, to the second.
    pub(crate) last_event: Option<SystemTime>,
    pub(crate) restarts: u64,
    /// How often an object could not be decoded.
    pub(crate) undecodable: u64,
    /// When the server last returned an earlier resourceVersion, as after a restored backup or from a
    /// stale copy.
    pub(crate) version_regressed: Option<SystemTime>,
    /// Whether deletions of the type are held because the resourceVersion regressed.
    pub(crate) deletions_held: bool,
    /// Each namespace with its own watch; empty when one watch covers all. A forbidden watch of all
    /// namespaces comes first, before the watches of single namespaces.
    pub(crate) namespaces: Vec<NamespaceState>,
    /// The fields that its schema marks as secret; `None` until the schema is known.
    pub(crate) secrets: Option<Arc<SecretFields>>,
}

/// One of several watches of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NamespaceWatch")]
pub(crate) struct NamespaceState {
    /// Absent for the watch of all namespaces, which the others replace while it is forbidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    /// Whether the first list was complete.
    pub(crate) synced: bool,
    /// The current error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<TypeError>,
}

/// Why a watch fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WatchError")]
pub(crate) struct TypeError {
    /// The server's message.
    pub(crate) message: String,
    /// The missing permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) permission: Option<String>,
}

/// A type at one moment.
#[derive(Debug, Clone)]
pub struct TypeSnapshot {
    /// Its store.
    pub store: StoreReader,
    pub(crate) state: TypeState,
}

impl TypeState {
    /// Whether anything that listeners are notified of is different.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let (last_event, secrets) = (self.last_event, self.secrets.clone());
        *self != Self { last_event, secrets, ..other.clone() }
    }
}

impl TypeSnapshot {
    /// The secret fields of the type; `None` until they are known.
    pub(crate) fn secrets(&self) -> Option<Arc<SecretFields>> {
        if self.store.ty().may_be_custom() {
            return self.state.secrets.clone();
        }
        // Kubernetes marks no fields of its own types.
        Some(Arc::default())
    }
}
