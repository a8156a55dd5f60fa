//! What the web endpoint shows: the values behind all its paths. It does nothing with them.

use super::program::Program;
use crate::{board::Board, metrics::Metrics};

/// What the web endpoint shows. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WebState {
    /// The operators, their parents and the caches.
    pub board: Board,
    /// What is counted.
    pub metrics: Metrics,
    /// What the program tells and lends.
    pub program: Program,
}
