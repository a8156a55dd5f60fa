//! An operator that runs on a runtime of the program.

use std::fmt;

use operetta::object::OneLine;
use tokio::{runtime::Runtime, sync::oneshot, task::JoinHandle};
use tracing::error;

use super::operator::Operator;

/// A running operator. Dropping the handle stops it without waiting.
pub struct OperatorHandle {
    task: JoinHandle<()>,
    /// Dropping it stops the operator.
    _stop: oneshot::Sender<()>,
}

impl OperatorHandle {
    pub(super) fn spawn(runtime: &Runtime, operator: Operator) -> Self {
        let (stop, stopped) = oneshot::channel();
        let task = runtime.spawn(async move {
            let stopped = async {
                // Nothing is sent: it ends when the handle is dropped.
                let _ = stopped.await;
            };
            if let Err(why) = operator.run(stopped).await {
                error!("the operator has ended: {}", OneLine(format_args!("{why:#}")));
            }
        });
        Self { task, _stop: stop }
    }

    /// Stops the operator, and does not wait.
    pub fn shutdown_now(self) {
        drop(self);
    }

    /// Whether the operator is still running.
    pub fn is_active(&self) -> bool {
        !self.task.is_finished()
    }
}

impl fmt::Debug for OperatorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorHandle").field("is_active", &self.is_active()).finish()
    }
}
