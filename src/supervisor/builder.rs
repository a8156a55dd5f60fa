//! Builds a supervisor: operators, connection, web endpoint and settings.

use std::{fmt, thread, time::Duration};

use futures::FutureExt;

use super::{
    Connect, Connection, Ready, announcement::Development, before_start::Connecting,
    external::ExternalChanges, migration::Migration, readiness::OnReady, webhooks::WebhookOptions,
};
use crate::{
    cluster::Timeouts,
    election::{LeaderElection, Sharding},
    metrics::TraceIds,
    operator::{AnyOperator, Fits, HasForm, IntoHandler, OperatorConfig, Role},
    web::{Auth, Program, Tls, TlsProxy},
};

mod endpoint;
mod program;
mod starting;
mod webhooks;

/// Runs operators. Created by [`Supervisor::builder`].
#[derive(Debug)]
pub struct Supervisor;

/// Collects operators and settings, for [`run`](Self::run) or [`start`](Self::start).
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "options, each on its own")]
pub struct SupervisorBuilder {
    connect: Option<Connecting>,
    operators: Vec<AnyOperator>,
    pub(super) external: Vec<ExternalChanges>,
    web: Option<String>,
    auth: Auth,
    tls: Option<Tls>,
    proxy: Option<TlsProxy>,
    is_open_allowed: bool,
    on_ready: Option<OnReady>,
    is_announced: bool,
    development: Option<Development>,
    are_crds_installed: bool,
    election: Option<LeaderElection>,
    sharding: Option<Sharding>,
    is_plan_only: bool,
    expects_registrations: bool,
    arbiters: usize,
    program: Program,
    trace_ids: Option<TraceIds>,
    webhooks: WebhookOptions,
    migration: Migration,
    #[cfg(feature = "testkit")]
    jumps: Option<super::clock::Jumps>,
}

/// Decisions take little time: on a small machine more threads cost more than they save.
fn arbiters() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores / 4).min(4)
}

impl Supervisor {
    /// A builder without operators, for [the cluster of the environment](Connect::infer).
    pub fn builder() -> SupervisorBuilder {
        let operators = Vec::new();
        SupervisorBuilder {
            connect: None,
            operators,
            external: Vec::new(),
            web: None,
            auth: Auth::None,
            tls: None,
            proxy: None,
            is_open_allowed: false,
            on_ready: None,
            is_announced: false,
            development: None,
            are_crds_installed: false,
            election: None,
            sharding: None,
            is_plan_only: false,
            expects_registrations: false,
            arbiters: arbiters(),
            program: Program::default(),
            trace_ids: None,
            webhooks: WebhookOptions::default(),
            migration: Migration::default(),
            #[cfg(feature = "testkit")]
            jumps: None,
        }
    }
}

impl SupervisorBuilder {
    /// Sets the cluster. Default is [the one of the environment](Connect::infer). On an embedded API server CRDs are
    /// [installed](Self::install_crds), and its kubeconfig is [announced](Self::announce).
    pub fn connect_to(mut self, cluster: impl Into<Connect>) -> Self {
        let cluster = cluster.into();
        self.development = cluster.development();
        self.connect(move || cluster.connection())
    }

    /// Installs the CRDs that the operators bring along before they start, and waits until the API server serves them: see
    /// [`OperatorConfig::custom`]. Never removes one. On an embedded API server this is always done. Elsewhere the process
    /// needs the permission to patch and watch CRDs, so that whoever deploys it often installs them instead.
    pub fn install_crds(mut self) -> Self {
        self.are_crds_installed = true;
        self
    }

    /// Sets how to create the client or its configuration, where [`connect_to`](Self::connect_to) is not enough.
    ///
    /// `connect` runs on the supervisor's own runtime. The client should not retry
    /// (`kube::Config::default_retry = false`), because the schedule of a parent does. Prefer to return the configuration:
    /// then the supervisor runs its credential plugin, with a deadline, and with a
    /// [leader election](Self::leader_election) also connections are fenced.
    pub fn connect<F, Fut, C>(mut self, connect: F) -> Self
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = anyhow::Result<C>> + Send + 'static,
        C: Into<Connection>,
    {
        let connecting = move || async move { Ok(connect().await?.into()) };
        self.connect = Some(Box::new(move || connecting().boxed()));
        self
    }

    /// Adds an operator: its configuration, and a handler in one of the forms of [`IntoHandler`]. `run` and
    /// `start` return the error of an invalid configuration.
    pub fn register<R: Role, Form, H>(self, config: OperatorConfig<R>, handler: H) -> Self
    where
        H: HasForm<Form> + IntoHandler<Form>,
        H::Role: Fits<R>,
    {
        self.register_any(AnyOperator::new(config, handler))
    }

    /// Adds an operator whose role and types are forgotten, for example one of a list.
    pub fn register_any(mut self, operator: AnyOperator) -> Self {
        self.operators.push(operator);
        self
    }

    /// Declares that operators are registered later, by a [`Registrar`](super::Registrar): the supervisor also starts
    /// without any. Child types are watched by the presence of the label of the parent's uid instead of the names of
    /// the operators, so that no later registration replaces a watch. Their caches then also hold the children of
    /// operators of other processes.
    pub fn expect_registrations(mut self) -> Self {
        self.expects_registrations = true;
        self
    }

    /// Runs the operators only while this process leads. Without it, every process that runs them writes.
    ///
    /// A standby watches, serves the web endpoint and is ready, so that it continues at once.
    pub fn leader_election(mut self, election: LeaderElection) -> Self {
        self.election = Some(election);
        self
    }

    /// Shares the parents of all operators out over the processes of a group, as many as there are: each watches, reconciles
    /// and writes only for its parents.
    ///
    /// Children get the label [`operetta.dev/bucket`](crate::operator::BUCKET_LABEL). Children that exist already are watched
    /// by their owner reference until they have it.
    pub fn sharded(mut self, sharding: Sharding) -> Self {
        self.sharding = Some(sharding);
        self
    }

    /// Writes nothing: the operators watch, and [`Running::plans`](super::Running::plans) says what they would do.
    ///
    /// Handlers are called for plans only, also those that [`OperatorConfig::with_preview`] excludes from previews;
    /// [`SyncRequest::is_preview`](crate::operator::SyncRequest::is_preview) is true.
    pub fn plan_only(mut self) -> Self {
        self.is_plan_only = true;
        self
    }

    /// Sets the timeouts of requests and watches.
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.program.settings.timeouts = timeouts;
        self
    }

    /// Sets how long no object of a type is deleted after its versions regressed, as after the API server
    /// was restored from a backup. Default is one minute.
    pub fn with_deletions_held_for(mut self, time: Duration) -> Self {
        self.program.settings.deletions_held = time;
        self
    }

    /// Lets the API server stream lists as the first events of their watches (`sendInitialEvents`,
    /// KEP-3157) if it supports that. By default lists are read in pages, and each watch continues from
    /// its list.
    ///
    /// A stream costs kube-apiserver no read of its storage but about twice the CPU of pages, so that a
    /// start with many objects takes longer. It is meant for servers that read pages from etcd, which are
    /// those before Kubernetes 1.34 (KEP-4988).
    pub fn streaming_lists(mut self) -> Self {
        self.program.settings.streaming_lists = true;
        self
    }

    /// Sets the number of arbiters, which are threads, over which the reconcilers of all parents are
    /// spread by uid; zero keeps them on the thread of the other actors. Default is one for each four
    /// cores, at most four. They only decide: requests, plans and handlers run on other threads.
    pub fn with_arbiters(mut self, count: usize) -> Self {
        self.arbiters = count;
        self
    }

    /// Runs everything on one thread, whose clock makes these jumps.
    #[cfg(feature = "testkit")]
    pub(crate) fn with_jumps(mut self, jumps: super::clock::Jumps) -> Self {
        (self.jumps, self.arbiters) = (Some(jumps), 0);
        self
    }

    /// Sets a callback that is called once, when every operator runs or is degraded with a reason. It is
    /// called on the thread of the actors and must not block. A panic is logged, and the operators continue.
    pub fn on_ready(mut self, call: impl FnOnce(&Ready) + Send + 'static) -> Self {
        self.on_ready = Some(Box::new(call));
        self
    }
}

impl fmt::Debug for SupervisorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.operators.iter().map(|it| it.config.name.as_str()).collect();
        f.debug_struct("SupervisorBuilder").field("operators", &names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
