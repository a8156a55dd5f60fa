//! The measured operators: started, waited for, stopped.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, Result};
use operetta::{
    supervisor::{Registrar, Running, Supervisor, SupervisorBuilder},
    testkit::internals::board::{Board, ParentPhase},
};

use crate::{cluster::Connect, workload::Workload};

/// The user agent of their requests.
pub(crate) const USER_AGENT: &str = "operetta/";
/// Longer than any step takes that ends.
pub(crate) const DEADLINE: Duration = Duration::from_mins(20);
/// Short beside every figure, and long enough that polling costs little.
const BETWEEN_LOOKS_PER_PARENT: Duration = Duration::from_micros(2);

/// A supervisor with one operator per parent type.
pub(crate) struct Operators(Running);

impl Operators {
    /// Starts them, and returns when they watch.
    pub(crate) async fn start(connect: Connect, workload: Workload, types: usize) -> Result<Self> {
        Self::started(Supervisor::builder().connect(connect), workload, types).await
    }

    /// Starts one with its web endpoint.
    pub(crate) async fn serving(connect: Connect, workload: Workload) -> Result<Self> {
        let builder = Supervisor::builder().connect(connect).serve("127.0.0.1:0");
        Self::started(builder, workload, 1).await
    }

    /// Starts those of the workload beside the operators of the builder.
    pub(crate) async fn started(
        mut builder: SupervisorBuilder,
        workload: Workload,
        types: usize,
    ) -> Result<Self> {
        for number in 0..types {
            let config = workload.config(&workload.parent(number));
            builder = builder.register(config, workload.handler());
        }
        let running = builder.start().await?;
        running.ready().await;
        Ok(Self(running))
    }

    /// Registers and deregisters operators.
    pub(crate) fn registrar(&self) -> Registrar {
        self.0.registrar()
    }

    /// Where their web endpoint listens.
    pub(crate) fn web(&self) -> Option<SocketAddr> {
        self.0.web()
    }

    pub(crate) fn board(&self) -> &Board {
        self.0.board()
    }

    /// The bytes of JSON that they cache.
    pub(crate) fn cached_bytes(&self) -> usize {
        let related = self.board().related_bytes();
        related + self.board().types().iter().map(|ty| ty.store.bytes()).sum::<usize>()
    }

    /// Waits until they have so many parents and all are synced, ready or not: nobody runs a Deployment here.
    pub(crate) async fn until_synced(&self, parents: usize) -> Result<()> {
        self.until(parents, || has_synced(self.board(), parents)).await
    }

    /// Waits for a state of so many parents.
    pub(crate) async fn until(&self, parents: usize, is: impl Fn() -> bool) -> Result<()> {
        let count = u32::try_from(parents.max(1000))?;
        let waiting = async {
            while !is() {
                tokio::time::sleep(BETWEEN_LOOKS_PER_PARENT * count).await;
            }
        };
        let waited = tokio::time::timeout(DEADLINE, waiting).await;
        waited.with_context(|| format!("not after {DEADLINE:?}: {:?}", phases(self.board())))
    }

    /// How many parents one operator has, and how many of them are synced.
    pub(crate) fn parents_of(&self, operator: &str) -> (usize, usize) {
        let operators = self.board().operators().into_iter();
        let found = operators.filter(|it| it.name().as_str() == operator);
        let phases: Vec<_> = found.flat_map(|operator| operator.parents).collect();
        (phases.iter().map(|(_, count)| count).sum(), synced(&phases))
    }

    /// Stops them, and waits for their end.
    pub(crate) async fn stop(self) -> Result<()> {
        Ok(self.0.stop().await?)
    }
}

fn has_synced(board: &Board, parents: usize) -> bool {
    let phases = phases(board);
    let all: usize = phases.iter().map(|(_, count)| count).sum();
    all == parents && synced(&phases) == parents
}

/// The parents whose children are written, ready or not.
fn synced(phases: &[(ParentPhase, usize)]) -> usize {
    let is_synced = |phase| matches!(phase, ParentPhase::Ready | ParentPhase::Synced);
    phases.iter().filter(|(phase, _)| is_synced(*phase)).map(|(_, count)| count).sum()
}

fn phases(board: &Board) -> Vec<(ParentPhase, usize)> {
    board.operators().into_iter().flat_map(|operator| operator.parents).collect()
}
