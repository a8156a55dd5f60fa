//! The right to run.

use std::{fmt, pin::Pin, time::Duration};

use super::Gate;

/// Longer than a run takes that writes a few children, also to a busy server.
pub(super) const SHORT_RUN: Duration = Duration::from_secs(1);

/// The right to run, until it is dropped.
#[must_use]
pub struct Permit {
    gate: Gate,
    /// Whether it has one of the common places.
    pub(super) in_common: bool,
}

impl Permit {
    pub(super) fn new(gate: &Gate) -> Self {
        Self { gate: gate.clone(), in_common: true }
    }

    /// Runs. What is not done after a second goes on without a common place.
    pub async fn during<T>(mut self, mut run: Pin<&mut impl Future<Output = T>>) -> T {
        if let Ok(done) = tokio::time::timeout(SHORT_RUN, &mut run).await {
            return done;
        }
        self.leave_common();
        run.await
    }

    pub(super) fn leave_common(&mut self) {
        if std::mem::take(&mut self.in_common) {
            self.gate.leave_common();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate.leave(self.in_common);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit of {:?}", self.gate)
    }
}
