//! The configurations of a cluster, compiled and in their order, and when they are compiled again.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::{
    policy::{MutatingPolicy, ValidatingPolicy},
    webhook::Webhook,
};
use crate::{
    group_resource::GroupResource,
    log::{Log, Scope},
};

const GROUP: &str = "admissionregistration.k8s.io";
/// The resources that are configurations.
const CONFIGURATIONS: [&str; 6] = [
    "mutatingwebhookconfigurations",
    "validatingwebhookconfigurations",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
];

/// The configurations at one moment.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(super) mutating: Vec<Webhook>,
    pub(super) validating: Vec<Webhook>,
    pub(super) mutating_policies: Vec<MutatingPolicy>,
    pub(super) validating_policies: Vec<ValidatingPolicy>,
}

/// The chain as it is now.
#[derive(Debug, Default)]
pub(crate) struct Chains(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What changes with each resource of [`CONFIGURATIONS`].
    watched: Vec<watch::Receiver<u64>>,
    chain: Arc<Chain>,
}

impl Chains {
    /// The chain as it is now.
    pub(crate) fn current(&self, log: &Log) -> Arc<Chain> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_stale = false;
        if state.watched.is_empty() {
            let subscribe =
                |plural: &&str| log.subscribe(&Arc::new(GroupResource::new(GROUP, *plural)));
            state.watched = CONFIGURATIONS.iter().map(subscribe).collect();
            is_stale = true;
        }
        for watched in &mut state.watched {
            if watched.has_changed().unwrap_or_default() {
                watched.mark_unchanged();
                is_stale = true;
            }
        }
        if is_stale {
            state.chain = Arc::new(Chain::of(log));
        }
        Arc::clone(&state.chain)
    }
}

impl Chain {
    /// Whether a write may lead to calls.
    pub(crate) fn calls(&self) -> bool {
        !self.mutating.is_empty() || !self.validating.is_empty()
    }

    /// Whether there are no configurations.
    pub(super) fn is_empty(&self) -> bool {
        !self.calls() && self.mutating_policies.is_empty() && self.validating_policies.is_empty()
    }

    fn of(log: &Log) -> Self {
        let all = CONFIGURATIONS.map(|plural| {
            let (_, entries) = log.entries(&GroupResource::new(GROUP, plural), &Scope::All);
            entries.iter().map(|(_, object)| object.value()).collect::<Vec<_>>()
        });
        let [mutating, validating, refusing, refused, changing, changed] = &all;
        Self {
            mutating: mutating.iter().flat_map(Webhook::all_of).collect(),
            validating: validating.iter().flat_map(Webhook::all_of).collect(),
            mutating_policies: changing.iter().map(|it| MutatingPolicy::of(it, changed)).collect(),
            validating_policies: refusing
                .iter()
                .map(|it| ValidatingPolicy::of(it, refused))
                .collect(),
        }
    }
}
