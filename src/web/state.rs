//! The values that the handlers of the web endpoint read.

use super::{program::Program, pulse::Pulse};
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
}

impl WebState {
    pub(crate) fn new(board: Board, metrics: Metrics, program: Program) -> Self {
        Self { board, metrics, program, pulse: Pulse::default() }
    }
}
