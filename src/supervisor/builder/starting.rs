//! From a builder to what runs: everything is checked that can be checked without a cluster.

use std::io;

use futures::FutureExt;
use tokio::{runtime::Handle, sync::oneshot};

use super::SupervisorBuilder;
use crate::{
    election::{LeaderElection, Sharding, ShardingError},
    manifests,
    operator::AnyOperator,
    supervisor::{
        Connect, RunError, Running,
        announcement::Announcement,
        checks::{check, check_external, refuse_exposure},
        migration::Migrated,
        running::Handles,
        signals,
        system::{self, Parts},
        thread::Thread,
    },
    web::{self, Auth, Tls},
};

impl SupervisorBuilder {
    /// Runs until SIGINT or SIGTERM, then finishes reconciles in flight (at most 4 seconds) and returns.
    /// A program that then exits does so within 5 seconds, whatever its handlers do. Another signal makes it return at
    /// once, with [`RunError::Abandoned`].
    ///
    /// The supervisor has threads of its own: the runtime of the caller is not blocked, and may be of any
    /// kind. Dropping the future stops the supervisor without waiting.
    ///
    /// ```no_run
    /// # use operetta::prelude::*;
    /// # fn config() -> OperatorConfig { unimplemented!() }
    /// # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
    /// #[tokio::main]
    /// async fn main() -> Result<()> {
    ///     Supervisor::builder().register(config(), sync).run().await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// When it cannot start, or has ended by an error. See [`RunError`].
    pub async fn run(self) -> Result<(), RunError> {
        let signals = signals::listen()?;
        let (thread, _) = self.spawn()?;
        thread.until_signalled(signals).await
    }

    /// The same as [`run`](Self::run), for a plain `fn main`. Blocks the calling thread.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and [`RunError::WithinRuntime`] within a tokio runtime.
    pub fn run_blocking(self) -> Result<(), RunError> {
        match Handle::try_current() {
            Ok(_) => Err(RunError::WithinRuntime),
            Err(_) => futures::executor::block_on(self.run()),
        }
    }

    /// Runs until the returned handle is stopped or dropped. Signals to the process are left to the program.
    ///
    /// Returns when the operators have been started, and the web endpoint listens;
    /// [`Running::ready`] waits until they run. Dropping the future stops the supervisor.
    ///
    /// # Errors
    /// When it cannot start. See [`RunError`].
    pub async fn start(self) -> Result<Running, RunError> {
        let (thread, started) = self.spawn()?;
        match started.await {
            Ok(handles) => Ok(Running::new(handles, thread)),
            Err(_) => Err(thread.outcome().await.err().unwrap_or(RunError::Died)),
        }
    }

    /// On its thread also the port is bound and files are read, which may block.
    fn spawn(self) -> io::Result<(Thread, oneshot::Receiver<Handles>)> {
        Thread::spawn(move |lifeline| system::run(self.prepare()?, lifeline))
    }

    /// Checks everything that can be checked without a cluster, and binds the port.
    fn prepare(self) -> Result<Parts, RunError> {
        if cfg!(panic = "abort") {
            return Err(RunError::PanicAborts);
        }
        let expects_registrations = self.expects_registrations || !self.webhooks.is_empty();
        if self.operators.is_empty() && !expects_registrations {
            return Err(RunError::NoOperators);
        }
        check(&self.operators)?;
        if !self.expects_registrations {
            check_external(&self.external, &self.operators)?;
        }
        let Self { connect, operators, web, auth, tls, proxy, is_open_allowed, .. } = self;
        let Self { on_ready, is_announced, development, are_crds_installed, is_plan_only, .. } =
            self;
        let Self { mut election, arbiters, program, external, trace_ids, webhooks, .. } = self;
        let name = program.name.as_ref().map_or("operetta", |(name, _)| name);
        let (versions, reach) = (webhooks.versions.clone(), webhooks.conversion(name));
        let is_acting = !is_plan_only && webhooks.elsewhere.is_none();
        let migrated = Migrated::of(self.migration, &versions).filter(|_| is_acting);
        // Nobody is answered in plan mode.
        let webhooks = Some(webhooks).filter(|_| !is_plan_only).unwrap_or_default();
        let reads = webhooks.reads();
        let webhooks = webhooks.prepare(name, development.is_some())?;
        if is_plan_only {
            // A standby for ever needs no Lease.
            election = None;
        }
        election.as_ref().map(LeaderElection::validate).transpose()?;
        let sharding = self.sharding;
        sharding.as_ref().map(Sharding::validate).transpose()?;
        if election.is_some() && sharding.is_some() {
            return Err(ShardingError::AndElection.into());
        }
        // It plans for all parents, and takes none from the processes that work.
        let sharding = sharding.filter(|_| !is_plan_only);
        let is_protected = auth != Auth::None && tls.is_some();
        if let (Some(address), false) = (&web, is_protected || is_open_allowed) {
            refuse_exposure(address)?;
        }
        let certificates = tls.map(Tls::load).transpose()?;
        let listener = web.as_deref().map(web::listen).transpose()?;
        let connect = connect.unwrap_or_else(|| Box::new(|| Connect::infer().connection().boxed()));
        let is_installing = (are_crds_installed || development.is_some()) && !is_plan_only;
        let configs = operators.iter().map(AnyOperator::config).filter(|_| is_installing);
        let announcement = (is_announced || development.is_some()).then(|| Announcement {
            operators: operators.iter().map(|it| it.config.name.clone()).collect(),
            development,
            is_tls: certificates.is_some(),
        });
        Ok(Parts {
            crds: manifests::definitions(
                configs,
                versions.iter().filter(|_| is_installing),
                reach.as_ref(),
            )?,
            announcement,
            connect,
            operators,
            external,
            listener,
            auth,
            certificates,
            proxy,
            on_ready,
            election,
            sharding,
            is_plan_only,
            expects_registrations,
            arbiters,
            program,
            trace_ids,
            webhooks,
            reads,
            migrated,
            #[cfg(feature = "testkit")]
            jumps: self.jumps,
        })
    }
}
