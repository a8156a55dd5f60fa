//! Health and metrics as values, for a program that serves them at an endpoint of its own.

use std::time::Instant;

use super::{health, metrics};
use crate::{board::Board, metrics::Metrics};

/// What `/livez` and `/metrics` show, for a program that serves them itself: at another port, or without the
/// rest of the web endpoint. Returned by [`Running::probes`](crate::supervisor::Running::probes). Cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct Probes {
    board: Board,
    metrics: Metrics,
}

impl Probes {
    pub(crate) fn new(board: &Board, metrics: &Metrics) -> Self {
        Self { board: board.clone(), metrics: metrics.clone() }
    }

    /// Whether the process is alive, as `/livez` shows. A process that is not alive does not recover:
    /// restart it.
    pub fn is_alive(&self) -> bool {
        health::is_alive(&self.board, Instant::now())
    }

    /// The metrics of this moment in the text format of Prometheus,
    /// [`METRICS_TYPE`](Self::METRICS_TYPE).
    pub fn metrics(&self) -> String {
        metrics::text(&self.board, &self.metrics)
    }

    /// The same as `OpenMetrics` 1.0, [`OPENMETRICS_TYPE`](Self::OPENMETRICS_TYPE): for a client whose `Accept` names
    /// `application/openmetrics-text`. It has exemplars of reconciles that are traced.
    pub fn openmetrics(&self) -> String {
        metrics::openmetrics(&self.board, &self.metrics)
    }

    /// The content type of [`openmetrics`](Self::openmetrics).
    pub const OPENMETRICS_TYPE: &str = Metrics::OPENMETRICS_TYPE;

    /// The content type of [`metrics`](Self::metrics).
    pub const METRICS_TYPE: &str = Metrics::CONTENT_TYPE;
}
