//! The state that one server is: its log, its types, its clock.
//!
//! It decides nothing.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::{
    addresses::Addresses,
    clock::{Clock, Ids},
    credentials::Keychain,
    log::{Log, Object, ObjectKey},
    resource::{Registry, Resource},
};

/// The state of one embedded cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// The objects.
    pub log: Arc<Log>,
    /// The types.
    pub registry: Registry,
    /// The time.
    pub clock: Clock,
    /// Names and uids.
    pub ids: Ids,
    /// The addresses and ports of Services.
    pub addresses: Addresses,
    /// What certificates and tokens are signed with.
    pub keychain: Keychain,
    /// Whether Pods on a node get time to end when they are deleted, as simulated ones do.
    pub graceful: bool,
    /// Called after a definition was written, before the request is answered.
    pub on_definition: fn(&Cluster, &str),
    /// Held while a definition is published, so that the newest one is published last.
    pub publishing: Mutex<()>,
}

impl Cluster {
    /// The object in the version of `resource`, or nothing.
    pub(crate) fn read(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Option<(Arc<Object>, Value)> {
        let object = self.log.get(&resource.storage, key)?;
        let value = resource.decode(&object);
        Some((object, value))
    }
}
