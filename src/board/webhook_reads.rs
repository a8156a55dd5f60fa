//! What webhooks need, beside what operators need.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use tokio::sync::Notify;

use crate::object::K8sType;

/// The types without which webhooks cannot answer.
#[derive(Clone, Default)]
pub(super) struct WebhookReads {
    pub(super) types: Arc<OnceLock<BTreeSet<K8sType>>>,
    /// The state of some type was set.
    pub(super) changed: Arc<Notify>,
}
