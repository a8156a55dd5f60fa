//! An embedded API server, and operators that reconcile on it.

use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, api::PostParams};
use operetta_apiserver::Server;

use super::{
    eventually::DEADLINE,
    settled::{Sight, assert_settled, settle},
};
use crate::supervisor::{RunError, Running, Supervisor, SupervisorBuilder};

/// A Kubernetes API server inside the process. Each is a cluster of its own.
#[derive(Debug, Clone)]
pub struct TestCluster {
    server: Server,
    /// The operators that were started by [`TestCluster::run`].
    operators: Arc<Mutex<Vec<Sight>>>,
}

impl TestCluster {
    /// An empty cluster. Must be called within a tokio runtime, which runs its controllers.
    pub fn start() -> Self {
        Self { server: Server::start(), operators: Arc::default() }
    }

    /// The server, to inspect its requests, to interrupt its watches or to serve it to kubectl.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// An administrator's client.
    pub fn client(&self) -> Client {
        self.server.client()
    }

    /// Creates CRDs; the server serves their types at once.
    ///
    /// # Errors
    /// The server refuses one.
    pub async fn install(&self, crds: &[CustomResourceDefinition]) -> kube::Result<()> {
        let api: Api<CustomResourceDefinition> = Api::all(self.client());
        for crd in crds {
            api.create(&PostParams::default(), crd).await?;
        }
        Ok(())
    }

    /// Runs operators on this cluster, and returns when they are ready. The CRDs that they bring along are installed.
    ///
    /// # Errors
    /// The supervisor does not start; see [`RunError`].
    pub async fn run(
        &self,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Result<Running, RunError> {
        let running = self.start_operators(register).await?;
        self.watch_over(&running);
        Ok(running)
    }

    /// Waits until all operators that [`run`](Self::run) started have nothing left to do, as
    /// [`Running::settled`] does for those of one supervisor.
    ///
    /// # Panics
    /// After a minute, with what is left to do.
    pub async fn settled(&self) {
        let all = {
            let mut operators = self.operators();
            operators.retain(|sight| !sight.has_ended());
            operators.clone()
        };
        assert_settled(settle(&all, DEADLINE).await);
    }

    pub(super) async fn start_operators(
        &self,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Result<Running, RunError> {
        let server = self.server.clone();
        let connected = Supervisor::builder().connect(|| async move { Ok(server.client()) });
        let connected = connected.install_crds().beside_its_api_server();
        let running = register(connected).start().await?;
        running.ready().await;
        Ok(running)
    }

    /// From now on [`settled`](Self::settled) waits for these operators too.
    pub(super) fn watch_over(&self, running: &Running) -> Sight {
        let sight = Sight::of(running);
        self.operators().push(sight.clone());
        sight
    }

    fn operators(&self) -> std::sync::MutexGuard<'_, Vec<Sight>> {
        self.operators.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
