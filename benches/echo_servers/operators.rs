//! The operator that is measured: started, asked whether it is done, stopped.

use std::time::Duration;

use ::operators::echo_server;
use anyhow::{Context, Result};
use operetta::{
    board::{Board, ParentPhase},
    supervisor::{Running, Supervisor},
};

use crate::cluster::Connect;

/// How its requests are told from others.
pub(crate) const USER_AGENT: &str = "operetta/";
/// Nothing here takes so long unless it never ends.
const DEADLINE: Duration = Duration::from_mins(10);
/// Small beside every figure that it bounds.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// A supervisor with the `echo-server` operator.
pub(crate) struct Operators(Running);

impl Operators {
    /// Starts it, and returns when it watches.
    pub(crate) async fn start(connect: Connect) -> Result<Self> {
        let builder = Supervisor::builder()
            .connect(connect)
            .register(echo_server::config(), echo_server::sync);
        let running = tokio::task::spawn_blocking(|| builder.start()).await??;
        running.ready().await;
        Ok(Self(running))
    }

    pub(crate) fn board(&self) -> &Board {
        self.0.board()
    }

    /// Waits until it has so many parents, all of them with nothing left to do.
    pub(crate) async fn until_synced(&self, parents: usize) -> Result<()> {
        let synced = async {
            while !has_synced(self.board(), parents) {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        };
        let waited = tokio::time::timeout(DEADLINE, synced).await;
        waited.with_context(|| format!("not synced after {DEADLINE:?}: {:?}", phases(self.board())))
    }

    /// Stops it, and waits for its end.
    pub(crate) async fn stop(self) -> Result<()> {
        Ok(tokio::task::spawn_blocking(|| self.0.stop()).await??)
    }
}

fn has_synced(board: &Board, parents: usize) -> bool {
    let phases = phases(board);
    let synced = phases.iter().find(|(phase, _)| *phase == ParentPhase::Synced);
    let all: usize = phases.iter().map(|(_, count)| count).sum();
    all == parents && synced.is_some_and(|(_, count)| *count == parents)
}

fn phases(board: &Board) -> Vec<(ParentPhase, usize)> {
    let operator = board.operator(&echo_server::config().name);
    operator.into_iter().flat_map(|operator| operator.parents).collect()
}
