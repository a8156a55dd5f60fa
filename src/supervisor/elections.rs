//! The elections of a process: one, or one per operator.

use std::collections::BTreeMap;

use tokio::sync::watch;

use super::{fences::Fences, wiring::Wiring};
use crate::{
    actors::{Elected, Elector, ElectorParts, OperatorHandle, Sharded, SharderParts},
    election::{BucketFence, Buckets, Fence, FenceReach, LeaderElection, Sharding},
    execute::Context,
    object::ObjectKey,
    operator::OperatorName,
};

/// The running elections.
#[derive(Default)]
pub(super) struct Elections {
    settings: Option<Settings>,
    common: Option<Elected>,
    sharded: Option<Sharded>,
    by_operator: BTreeMap<OperatorName, Elected>,
}

struct Settings {
    election: LeaderElection,
    identity: String,
    reach: FenceReach,
}

impl Elections {
    /// Starts the election of the process, if it has one for all operators.
    pub(super) fn start(
        election: Option<LeaderElection>,
        wiring: &Wiring,
        fences: &Fences,
    ) -> Self {
        let Some(election) = election else { return Self::default() };
        let identity = election.identity.clone().unwrap_or_else(identity);
        let settings = Settings { election, identity, reach: fences.reach() };
        if let Some(weakness) = settings.reach.weakness() {
            tracing::warn!(
                "the fence of the leader election is weaker than it could be: {weakness}"
            );
        }
        let name = settings.election.name.clone();
        let common = fences.common().map(|fence| settings.start(&name, fence, wiring));
        Self { settings: Some(settings), common, ..Self::default() }
    }

    /// Joins the group with which the process shares its parents.
    pub(super) fn share(sharding: &Sharding, wiring: &Wiring, fences: &Fences) -> Self {
        let of_group = fences.common().zip(fences.first()).zip(fences.buckets().cloned());
        let sharded = of_group.map(|(both, buckets)| {
            start_sharder(sharding, (both, buckets), fences.reach(), wiring)
        });
        Self { sharded, ..Self::default() }
    }

    /// The member of a group, if the process shares its parents out.
    pub(super) fn sharded(&self) -> Option<&Sharded> {
        self.sharded.as_ref()
    }

    /// The operator works while this process leads.
    pub(super) fn join(
        &mut self,
        (context, handle): (&Context, &OperatorHandle),
        wiring: &Wiring,
        fences: &Fences,
    ) {
        if let Some(sharded) = &self.sharded {
            sharded.join(context.name().clone(), context.gate().clone(), handle);
        }
        let Some(settings) = &self.settings else { return };
        let name = context.name().clone();
        let elected = match (&self.common, fences.of_operator(name.as_str())) {
            (Some(common), _) => common,
            (None, Some(fence)) => {
                let lease = format!("{}-{name}", settings.election.name);
                let elected = settings.start(&lease, fence, wiring);
                self.by_operator.entry(name.clone()).or_insert(elected)
            }
            (None, None) => return,
        };
        elected.join(name, context.gate().clone());
    }

    /// The operator is gone; returns its own election.
    pub(super) fn part(&mut self, operator: &OperatorName) -> Option<Elected> {
        if let Some(common) = &self.common {
            common.part(operator.clone());
        }
        if let Some(sharded) = &self.sharded {
            sharded.part(operator.clone());
        }
        self.by_operator.remove(operator)
    }

    pub(super) fn all(&self) -> Vec<Elected> {
        self.common.iter().chain(self.by_operator.values()).cloned().collect()
    }
}

impl Settings {
    fn start(&self, name: &str, fence: Fence, wiring: &Wiring) -> Elected {
        let cluster = wiring.cluster.in_the_name_of("leader election");
        let namespace = self.election.namespace.as_deref().unwrap_or(cluster.own_namespace());
        Elector::start(ElectorParts {
            lease: ObjectKey::namespaced(namespace, name),
            pod: self.election.pod.as_deref().map(|pod| ObjectKey::namespaced(namespace, pod)),
            identity: self.identity.clone(),
            timing: self.election.timing,
            fence,
            reach: self.reach,
            cluster,
            runtime: wiring.runtime.clone(),
            board: wiring.board.clone(),
            metrics: wiring.metrics.clone(),
            mailbox: wiring.metrics.mailbox("elector", name),
        })
    }
}

fn start_sharder(
    sharding: &Sharding,
    ((fence, first), buckets): ((Fence, Fence), BucketFence),
    reach: FenceReach,
    wiring: &Wiring,
) -> Sharded {
    let cluster = wiring.cluster.in_the_name_of("sharding");
    let namespace = sharding.namespace.as_deref().unwrap_or(cluster.own_namespace());
    let random = format!("{:08x}", uuid::Uuid::new_v4().as_fields().0);
    let member = sharding.member(&host(), &random);
    Sharded::start(SharderParts {
        lease: ObjectKey::namespaced(namespace, &member),
        group: sharding.group.clone(),
        url: sharding.url.clone(),
        timing: sharding.timing,
        fence,
        first,
        buckets,
        reach,
        watches: watch::Sender::new(Buckets::NONE),
        cluster,
        runtime: wiring.runtime.clone(),
        board: wiring.board.clone(),
        metrics: wiring.metrics.clone(),
        mailbox: wiring.metrics.mailbox("sharder", &sharding.group),
    })
}

/// The host name, in a Pod that of the Pod, and a part that is different for each process.
fn identity() -> String {
    format!("{}_{}", host(), uuid::Uuid::new_v4())
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = std::env::var("HOSTNAME").unwrap_or(name);
    let name = if name.trim().is_empty() { "process" } else { name.trim() };
    name.to_owned()
}
