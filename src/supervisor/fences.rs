//! The fences of the operators of a process, and the clients for what is written behind them.

use std::collections::BTreeMap;

use super::{Connection, RunError};
use crate::{
    cluster::Cluster,
    election::{BucketFence, Fence, FenceReach, LeaderElection},
};

/// The fences of the operators by name. They are closed at first.
pub(super) struct Fences {
    connection: Connection,
    kind: Kind,
    by_operator: BTreeMap<String, Fenced>,
    shares: Option<Shares>,
}

/// The fences of a process that shares its parents out.
struct Shares {
    /// In which buckets the process works.
    buckets: BucketFence,
    /// For what belongs to the group: one member does it.
    first: Fenced,
}

/// Whose fences there are.
enum Kind {
    /// None: there is no election.
    Open,
    /// They never open.
    Closed,
    /// All operators have this one.
    Common(Fenced),
    /// Each operator has its own.
    PerOperator,
}

#[derive(Clone)]
struct Fenced {
    fence: Fence,
    /// For writes, if connections can be fenced too.
    writer: Option<kube::Client>,
}

impl Fences {
    pub(super) fn of(
        election: Option<&LeaderElection>,
        connection: Connection,
    ) -> Result<Self, RunError> {
        let kind = match election {
            None => Kind::Open,
            Some(election) if election.per_operator => Kind::PerOperator,
            Some(_) => Kind::Common(Fenced::new(&connection)?),
        };
        Ok(Self { connection, kind, by_operator: BTreeMap::new(), shares: None })
    }

    /// The fence of a process that shares its parents out, and those of its buckets.
    pub(super) fn shared(connection: Connection) -> Result<Self, RunError> {
        let kind = Kind::Common(Fenced::new(&connection)?);
        let shares = Shares { buckets: BucketFence::default(), first: Fenced::new(&connection)? };
        Ok(Self { connection, kind, by_operator: BTreeMap::new(), shares: Some(shares) })
    }

    /// Fences that never open.
    pub(super) fn closed(connection: Connection) -> Self {
        Self { connection, kind: Kind::Closed, by_operator: BTreeMap::new(), shares: None }
    }

    /// How far they reach.
    pub(super) fn reach(&self) -> FenceReach {
        self.connection.fence_reach()
    }

    pub(super) fn buckets(&self) -> Option<&BucketFence> {
        self.shares.as_ref().map(|shares| &shares.buckets)
    }

    /// The fence of what belongs to a group.
    pub(super) fn first(&self) -> Option<Fence> {
        self.shares.as_ref().map(|shares| shares.first.fence.clone())
    }

    /// The fence of all operators, if they share one.
    pub(super) fn common(&self) -> Option<Fence> {
        match &self.kind {
            Kind::Common(fenced) => Some(fenced.fence.clone()),
            Kind::Open | Kind::Closed | Kind::PerOperator => None,
        }
    }

    pub(super) fn add(&mut self, name: &str) -> Result<(), RunError> {
        let fenced = match &self.kind {
            Kind::Open => return Ok(()),
            Kind::Closed => Fenced { fence: Fence::default(), writer: None },
            Kind::Common(fenced) => fenced.clone(),
            Kind::PerOperator => Fenced::new(&self.connection)?,
        };
        self.by_operator.insert(name.to_owned(), fenced);
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.by_operator.remove(name);
    }

    pub(super) fn of_operator(&self, name: &str) -> Option<Fence> {
        self.by_operator.get(name).map(|fenced| fenced.fence.clone())
    }

    /// The connection of an operator.
    pub(super) fn behind(&self, cluster: Cluster, name: &str) -> Cluster {
        match self.by_operator.get(name).cloned() {
            Some(Fenced { fence, writer }) => cluster.behind(fence, writer),
            None => cluster,
        }
    }

    /// The connection of what belongs to the process: behind the fence of all operators, or of this one. Of a group one member
    /// does it.
    pub(super) fn behind_any(&self, cluster: Cluster, operator: Option<&str>) -> Cluster {
        if let Some(Shares { first: Fenced { fence, writer }, .. }) = &self.shares {
            return cluster.behind(fence.clone(), writer.clone());
        }
        match (&self.kind, operator) {
            (Kind::Common(Fenced { fence, writer }), _) => {
                cluster.behind(fence.clone(), writer.clone())
            }
            (_, Some(name)) => self.behind(cluster, name),
            (_, None) => cluster,
        }
    }
}

impl Fenced {
    fn new(connection: &Connection) -> Result<Self, RunError> {
        let fence = Fence::default();
        Ok(Self { writer: connection.fenced(&fence)?, fence })
    }
}
