//! The API server, and the writes that it has answered.

use std::{
    env,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use kube::{Client, Config, config::Kubeconfig};
use operetta_apiserver::{RequestRecord, Running, Server};
use operetta_controlplane::{AuditEvent, ControlPlane, Error, Options, Version};
use operetta_harness::{ignore, ignore_outside_ci};
use tokio::{
    sync::{Mutex, MutexGuard},
    task::block_in_place,
};

/// Where a test runs. The tests use the real one in turn.
pub(crate) enum Cluster {
    Embedded {
        server: Server,
        kubeconfig: PathBuf,
        #[expect(dead_code, reason = "held")]
        running: Box<Running>,
    },
    Real(Box<ControlPlane>, #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>),
}

impl Cluster {
    /// The cluster that the environment chooses; the test is ignored if it is not available.
    pub(crate) async fn start(folder: &Path) -> Self {
        let cluster = env::var("OPERETTA_TEST_CLUSTER").unwrap_or_else(|_| "embedded".into());
        match Version::chosen(&cluster) {
            Some(version) => Self::real(version.unwrap()).await,
            None if cluster == "embedded" => Self::embedded(folder),
            None => ignore(format!("this test is not for OPERETTA_TEST_CLUSTER={cluster}")),
        }
    }

    fn embedded(folder: &Path) -> Self {
        let server = Server::start();
        let running = Box::new(server.serve("127.0.0.1:0".parse().unwrap()).unwrap());
        let kubeconfig = folder.join("kubeconfig");
        running.write_kubeconfig(&kubeconfig).unwrap();
        Self::Embedded { server, kubeconfig, running }
    }

    async fn real(version: Version) -> Self {
        static ONE_AT_A_TIME: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);
        let guard = ONE_AT_A_TIME.lock().await;
        let start = move || ControlPlane::start_with(&Options::default().version(version));
        match tokio::task::spawn_blocking(start).await.unwrap() {
            Ok(plane) => Self::Real(Box::new(plane), guard),
            Err(missing @ Error::Unavailable { .. }) => ignore_outside_ci(missing),
            Err(error) => panic!("{error}"),
        }
    }

    /// An administrator's kubeconfig.
    pub(crate) fn kubeconfig(&self) -> &Path {
        match self {
            Self::Embedded { kubeconfig, .. } => kubeconfig,
            Self::Real(plane, _) => plane.kubeconfig_path(),
        }
    }

    /// An administrator's client.
    pub(crate) async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &<_>::default()).await.unwrap();
        Client::try_from(config).unwrap()
    }

    /// The requests that have written Greetings and `ConfigMap`s, whether that changed something or not: all whose
    /// effects were to be seen before the call.
    pub(crate) async fn writes(&self) -> Vec<String> {
        // A refused one, such as a conflict because of an old cache, has written nothing.
        let is_counted = |path: &str, status: u16| {
            let is_of_us = path.contains("/default/configmaps") || path.contains("/greetings");
            is_of_us && status < 300
        };
        match self {
            Self::Embedded { server, .. } => {
                let writes = server.requests().await.into_iter().filter(RequestRecord::is_write);
                let writes = writes.filter(|it| is_counted(&it.path, it.status));
                writes.map(|it| format!("{} {}", it.verb, it.path)).collect()
            }
            Self::Real(plane, _) => {
                let events = block_in_place(|| plane.audit_events().unwrap());
                let writes = events.into_iter().filter(AuditEvent::is_write);
                let writes = writes.filter(|it| it.stage == "ResponseComplete");
                let writes = writes.filter(|it| is_counted(&it.uri, it.code));
                writes.map(|it| format!("{} {}", it.verb, it.uri)).collect()
            }
        }
    }
}
