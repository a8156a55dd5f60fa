//! An embedded API server, and operators that reconcile on it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, api::PostParams};
use operetta_apiserver::Server;

use crate::supervisor::{RunError, Running, Supervisor, SupervisorBuilder};

/// A Kubernetes API server inside the process. Each is a cluster of its own.
#[derive(Debug, Clone)]
pub struct TestCluster {
    server: Server,
}

impl TestCluster {
    /// An empty cluster. Must be called within a tokio runtime, which runs its controllers.
    pub fn start() -> Self {
        Self { server: Server::start() }
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

    /// Runs operators on this cluster, and returns when they are ready.
    ///
    /// # Errors
    /// The supervisor does not start; see [`RunError`].
    pub async fn run(
        &self,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Result<Running, RunError> {
        let server = self.server.clone();
        let connected = Supervisor::builder().connect(|| async move { Ok(server.client()) });
        let running = register(connected).start().await?;
        running.ready().await;
        Ok(running)
    }
}
