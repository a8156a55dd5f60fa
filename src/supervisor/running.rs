//! The handle of a running supervisor.

use std::{fmt, net::SocketAddr};

use super::{Registrar, RunError, TriggerError, external, registry::Watched, thread::Thread};
use crate::{
    board::Board,
    cluster::Cluster,
    metrics::Metrics,
    object::ObjectKey,
    web::{PlanFilter, Plans, Probes, Stores, stores_of},
};

/// The process is ready: every operator runs, or is degraded with a reason.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Where the web endpoint listens, if it does.
    pub web: Option<SocketAddr>,
    /// The reasons of degraded operators, each beginning with the operator's name; empty when every operator
    /// runs.
    pub degraded: Vec<String>,
}

/// What a started supervisor shows.
#[derive(Debug)]
pub(super) struct Handles {
    pub(super) board: Board,
    pub(super) metrics: Metrics,
    pub(super) web: Option<SocketAddr>,
    pub(super) hooks: Option<SocketAddr>,
    pub(super) registrar: Registrar,
    pub(super) watches: Watches,
}

/// What the supervisor watches, and where.
#[derive(Clone)]
pub(crate) struct Watches {
    pub(crate) cluster: Cluster,
    /// Each watch, and the store that it feeds.
    #[cfg_attr(not(feature = "testkit"), expect(dead_code, reason = "only tests compare"))]
    pub(crate) watched: Watched,
}

/// A supervisor on its own thread. Dropping the handle stops it without waiting.
#[derive(Debug)]
#[must_use = "dropping it stops the supervisor"]
pub struct Running {
    handles: Handles,
    thread: Thread,
}

impl Running {
    pub(super) fn new(handles: Handles, thread: Thread) -> Self {
        Self { handles, thread }
    }

    /// Where the web endpoint listens, if it does.
    pub fn web(&self) -> Option<SocketAddr> {
        self.handles.web
    }

    /// Where the webhooks listen, if there are any.
    pub fn webhooks(&self) -> Option<SocketAddr> {
        self.handles.hooks
    }

    /// Registers and deregisters operators while the supervisor runs.
    ///
    /// ```no_run
    /// # use operetta::{prelude::*, supervisor::{OnRemoval, Running}};
    /// # async fn example(running: Running, config: OperatorConfig) -> Result<()> {
    /// # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
    /// let registrar = running.registrar();
    /// registrar.register(config, sync).await?;
    /// registrar.deregister("greeter", OnRemoval::Leave).await?;
    /// # Ok(()) }
    /// ```
    pub fn registrar(&self) -> Registrar {
        self.handles.registrar.clone()
    }

    /// Reconciles a parent of an operator for a reason outside of Kubernetes, as after a change of the parent:
    /// at once, or at the end of the debounce window. A backoff ends. Returns when the operator knows, not when
    /// the reconcile is done. A standby of a leader election reconciles when it leads.
    ///
    /// ```no_run
    /// # use operetta::{object::ObjectKey, prelude::*, supervisor::Running};
    /// # async fn example(running: Running) -> Result<()> {
    /// running.trigger("shop", &ObjectKey::namespaced("default", "flowers")).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// There is no such operator or parent, or the supervisor has ended.
    pub async fn trigger(&self, operator: &str, parent: &ObjectKey) -> Result<(), TriggerError> {
        external::report(&self.handles.board, operator, parent).await
    }

    /// The state that the web endpoint shows, for the tests of this repository.
    #[doc(hidden)]
    pub fn board(&self) -> &Board {
        &self.handles.board
    }

    /// What the operators would do now, parent by parent. Handlers are called, and nothing is written; wait for
    /// [`ready`](Self::ready) first.
    ///
    /// # Errors
    /// The operator of the filter does not exist, or the supervisor has ended.
    pub async fn plans(&self, filter: &PlanFilter) -> anyhow::Result<Plans> {
        Ok(Plans::of(&self.handles.board, filter).await?)
    }

    /// The same for the parents of these documents, as if they were applied: a parent that does not exist plans
    /// creations. Children and related objects are those of the cluster. A dry run asks the API server for the
    /// defaults of each parent, and whether it would refuse it: a refused parent has no plan.
    ///
    /// # Errors
    /// Those of [`plans`](Self::plans), and a [`DocumentError`](crate::web::DocumentError) where a document is no
    /// parent of the chosen operators.
    pub async fn plans_against(
        &self,
        filter: &PlanFilter,
        documents: &[serde_json::Value],
    ) -> anyhow::Result<Plans> {
        let Handles { board, watches, .. } = &self.handles;
        Ok(Plans::against(board, &watches.cluster, filter, documents).await?)
    }

    /// The caches of the operators.
    pub fn stores(&self) -> Stores {
        stores_of(&self.handles.board)
    }

    /// Health and metrics, for a program that serves them itself.
    pub fn probes(&self) -> Probes {
        Probes::new(&self.handles.board, &self.handles.metrics)
    }

    #[cfg(feature = "testkit")]
    pub(crate) fn watches(&self) -> &Watches {
        &self.handles.watches
    }

    /// The metrics that operators count as they run. Those that are computed for each scrape, such as the numbers of
    /// parents, are only in [`probes`](Self::probes).
    ///
    /// ```
    /// use operetta::supervisor::{Metrics, Running};
    ///
    /// fn metrics(running: &Running) -> Metrics {
    ///     running.metrics().clone()
    /// }
    /// ```
    pub fn metrics(&self) -> &Metrics {
        &self.handles.metrics
    }

    /// Whether it is still running.
    pub fn is_active(&self) -> bool {
        self.thread.is_active()
    }

    /// Returns once every operator runs or is degraded with a reason. It also returns when the supervisor
    /// has ended, for which [`stop`](Self::stop) returns the reason.
    pub async fn ready(&self) {
        self.thread.ready().await;
    }

    /// Returns when the supervisor has ended, also by an error, which [`stop`](Self::stop) returns. The
    /// future does not borrow the handle, and may be dropped: a program waits with it in `tokio::select!`,
    /// or gives it to `with_graceful_shutdown` of another server.
    ///
    /// ```
    /// # use operetta::{supervisor::{RunError, Running}};
    /// # async fn example(running: Running) -> Result<(), RunError> {
    /// tokio::select! {
    ///     () = running.stopped() => {}
    ///     _ = tokio::signal::ctrl_c() => {}
    /// }
    /// running.stop().await
    /// # }
    /// ```
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + Sync + use<> {
        self.thread.ended()
    }

    /// Finishes reconciles in flight (at most 4 seconds), stops, and returns when all has ended.
    ///
    /// # Errors
    /// The error that ended the supervisor before this call.
    pub async fn stop(self) -> Result<(), RunError> {
        self.thread.stop().await
    }
}

impl fmt::Debug for Watches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watches")
    }
}
