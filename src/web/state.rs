//! The values that the handlers of the web endpoint read.

use super::program::Program;
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
}
