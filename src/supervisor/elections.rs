//! The elections of a process: one, or one per operator.

use std::sync::Arc;

use super::wiring::Wiring;
use crate::{
    actors::{Elected, Elector, ElectorParts},
    election::LeaderElection,
    execute::Context,
    object::ObjectKey,
};

impl Wiring {
    /// Starts the elections. The operators work while this process leads.
    pub(super) fn start_elections(
        &self,
        election: Option<&LeaderElection>,
        contexts: &[Arc<Context>],
    ) -> Vec<Elected> {
        let Some(election) = election else { return Vec::new() };
        let identity = election.identity.clone().unwrap_or_else(identity);
        let start = |name: String, contexts: &[Arc<Context>]| {
            self.start_election(election, (&identity, &name), contexts)
        };
        if !election.per_operator {
            return start(election.name.clone(), contexts).into_iter().collect();
        }
        let one = |context: &Arc<Context>| {
            start(format!("{}-{}", election.name, context.name()), std::slice::from_ref(context))
        };
        contexts.iter().filter_map(one).collect()
    }

    fn start_election(
        &self,
        election: &LeaderElection,
        (identity, name): (&str, &str),
        contexts: &[Arc<Context>],
    ) -> Option<Elected> {
        let fence = self.fences.of_operator(contexts.first()?.name().as_str())?;
        let cluster = self.cluster.in_the_name_of("leader election");
        let namespace = election.namespace.as_deref().unwrap_or(cluster.own_namespace());
        let lease = ObjectKey::namespaced(namespace, name);
        let operators =
            contexts.iter().map(|context| (context.name().clone(), context.gate().clone()));
        Some(Elector::start(ElectorParts {
            lease,
            identity: identity.to_owned(),
            timing: election.timing,
            fence,
            operators: operators.collect(),
            cluster,
            runtime: self.runtime.clone(),
            board: self.board.clone(),
            metrics: self.metrics.clone(),
            mailbox: self.metrics.mailbox("elector", name),
        }))
    }
}

/// The host name, in a Pod that of the Pod, and a part that is different for each process.
fn identity() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = std::env::var("HOSTNAME").unwrap_or(name);
    let name = if name.trim().is_empty() { "process" } else { name.trim() };
    format!("{name}_{}", uuid::Uuid::new_v4())
}
