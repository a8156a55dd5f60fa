//! The fences of the operators of a process, and the clients for what is written behind them.

use std::collections::BTreeMap;

use kube::Client;

use super::{Connection, RunError};
use crate::{
    cluster::Cluster,
    election::{Fence, LeaderElection},
    operator::{AnyHandler, OperatorConfig},
};

/// The fences of the operators by name; none without an election. They are closed at first.
#[derive(Default)]
pub(super) struct Fences(BTreeMap<String, Fenced>);

#[derive(Clone)]
struct Fenced {
    fence: Fence,
    /// For writes, if connections can be fenced too.
    writer: Option<Client>,
}

impl Fences {
    pub(super) fn of(
        election: Option<&LeaderElection>,
        operators: &[(OperatorConfig, AnyHandler)],
        connection: &Connection,
    ) -> Result<Self, RunError> {
        let Some(election) = election else { return Ok(Self::default()) };
        let new = || {
            let fence = Fence::default();
            Ok::<_, RunError>(Fenced { writer: connection.fenced(&fence)?, fence })
        };
        let common = new()?;
        let fenced = |(config, _): &(OperatorConfig, AnyHandler)| {
            let fenced = if election.per_operator { new()? } else { common.clone() };
            Ok((config.name.clone(), fenced))
        };
        operators.iter().map(fenced).collect::<Result<_, _>>().map(Self)
    }

    /// Fences that never open.
    pub(super) fn closed(operators: &[(OperatorConfig, AnyHandler)]) -> Self {
        let closed = || Fenced { fence: Fence::default(), writer: None };
        Self(operators.iter().map(|(config, _)| (config.name.clone(), closed())).collect())
    }

    pub(super) fn of_operator(&self, name: &str) -> Option<Fence> {
        self.0.get(name).map(|fenced| fenced.fence.clone())
    }

    /// The connection of an operator.
    pub(super) fn behind(&self, cluster: Cluster, name: &str) -> Cluster {
        match self.0.get(name).cloned() {
            Some(Fenced { fence, writer }) => cluster.behind(fence, writer),
            None => cluster,
        }
    }
}
