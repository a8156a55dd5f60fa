//! Streams of changes outside of Kubernetes, as a setting of a supervisor.

use futures::{Stream, StreamExt};

use super::{SupervisorBuilder, external::ExternalChanges};
use crate::object::ObjectKey;

impl SupervisorBuilder {
    /// Reconciles the parents of an operator for reasons outside of Kubernetes: each key of the stream when it
    /// comes, as after a change of that parent. A webhook, a queue or a timer of another system is such a stream.
    ///
    /// The stream is polled on the supervisor's runtime from the start to the end of the supervisor. A key that the
    /// operator does not have is dropped: what it stands for is seen when its parent is first reconciled, also at the
    /// start. With a [leader election](Self::leader_election) a standby notes the keys, and reconciles when it leads.
    /// See [`Running::trigger`](super::Running::trigger) for one parent.
    ///
    /// ```no_run
    /// use futures::channel::mpsc;
    /// use operetta::{object::ObjectKey, prelude::*};
    /// # fn config() -> OperatorConfig { unimplemented!() }
    /// # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
    ///
    /// let (mut sender, changed) = mpsc::channel(64);
    /// let supervisor = Supervisor::builder().register(config(), sync).reconcile_on("shop", changed);
    /// // Elsewhere, for example where a webhook arrives:
    /// sender.try_send(ObjectKey::namespaced("default", "flowers"))?;
    /// # Ok::<(), operetta::anyhow::Error>(())
    /// ```
    ///
    /// `run` and `start` return [`RunError::ExternalOperator`](super::RunError::ExternalOperator) for an operator that is not registered, unless more
    /// are [expected](Self::expect_registrations).
    pub fn reconcile_on(
        mut self,
        operator: &str,
        parents: impl Stream<Item = ObjectKey> + Send + 'static,
    ) -> Self {
        let operator = operator.to_owned();
        self.external.push(ExternalChanges { operator, parents: parents.boxed() });
        self
    }
}
