//! The values that the handlers of the web endpoint read.

use super::{peers::Peers, program::Program, pulse::Pulse};
use crate::{board::Board, metrics::Metrics};

/// The state of the web endpoint. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct WebState {
    /// The operators, their parents and the caches.
    pub board: Board,
    /// The metrics.
    pub metrics: Metrics,
    /// What the program provides.
    pub program: Program,
    /// What wakes the readers of changes.
    pub(in crate::web) pulse: Pulse,
    /// The processes with which this one shares its parents, if it may do so.
    pub(in crate::web) peers: Option<Peers>,
}

impl WebState {
    pub(crate) fn new(board: Board, metrics: Metrics, program: Program) -> Self {
        Self { board, metrics, program, pulse: Pulse::default(), peers: None }
    }

    /// The same, with the processes that share the parents.
    pub(crate) fn beside(self, peers: Peers) -> Self {
        Self { peers: Some(peers), ..self }
    }
}
