//! The API server that a process under test connects to: embedded in the test, or the real one.
//!
//! `OPERETTA_TEST_CLUSTER=embedded|controlplane[:VERSION]` chooses; the default is `embedded`. The cluster of
//! a kubeconfig is for the behaviour tests only: these tests are about the binary, not the cluster.

use std::{
    borrow::Borrow,
    env,
    path::{Path, PathBuf},
    sync::{
        LazyLock, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use kube::{Client, Config, config::Kubeconfig};
use operetta_apiserver::{Running, Server};
use operetta_controlplane::{ControlPlane, Error, Options, Version};
use operetta_harness::{ignore, ignore_outside_ci};
use tokio::sync::{Mutex, MutexGuard};

/// Where a test runs. Its tests use it one at a time.
pub(crate) enum Cluster {
    Embedded {
        kubeconfig: PathBuf,
        #[expect(dead_code, reason = "held")]
        running: Running,
    },
    Real(&'static ControlPlane, #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>),
}

impl Cluster {
    /// The cluster that the environment chooses; the test is ignored if it is not available.
    pub(crate) async fn start() -> Self {
        Self::start_as(Server::start).await
    }

    /// The same, with this as the embedded server.
    pub(crate) async fn start_as(embedded: impl Fn() -> Server) -> Self {
        let cluster = env::var("OPERETTA_TEST_CLUSTER").unwrap_or_else(|_| "embedded".into());
        match (cluster.as_str(), Version::chosen(&cluster)) {
            (_, Some(version)) => Self::real(version.unwrap()).await,
            ("embedded", _) => Self::embedded(&embedded()),
            ("kubeconfig", _) => {
                ignore("the cluster of a kubeconfig is for the tests of behaviour")
            }
            _ => {
                panic!("OPERETTA_TEST_CLUSTER={cluster}: use embedded, controlplane or kubeconfig")
            }
        }
    }

    fn embedded(server: &Server) -> Self {
        let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
        let kubeconfig = new_folder().join("kubeconfig");
        running.write_kubeconfig(&kubeconfig).unwrap();
        Self::Embedded { kubeconfig, running }
    }

    async fn real(version: Version) -> Self {
        static SHARED: OnceLock<Result<ControlPlane, Error>> = OnceLock::new();
        static ONE_AT_A_TIME: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);
        let guard = ONE_AT_A_TIME.lock().await;
        let options = Options::default().version(version);
        let start = move || SHARED.get_or_init(|| ControlPlane::start_with(&options)).as_ref();
        let shared = tokio::task::spawn_blocking(start).await.unwrap();
        Self::Real(or_ignore(shared), guard)
    }

    /// An administrator's kubeconfig.
    pub(crate) fn kubeconfig(&self) -> &Path {
        match self {
            Self::Embedded { kubeconfig, .. } => kubeconfig,
            Self::Real(cluster, _) => cluster.kubeconfig_path(),
        }
    }

    /// An administrator's client.
    pub(crate) async fn client(&self) -> Client {
        client_of(self.kubeconfig()).await
    }
}

/// The client for a kubeconfig.
pub(crate) async fn client_of(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &<_>::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// The result of the rig; the test is ignored if the rig is not available.
pub(crate) fn or_ignore<T, E: Borrow<Error>>(made: Result<T, E>) -> T {
    made.unwrap_or_else(|error| match error.borrow() {
        missing @ Error::Unavailable { .. } => ignore_outside_ci(missing),
        error => panic!("{error}"),
    })
}

/// An empty folder of its own for each caller.
pub(crate) fn new_folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{}-{number}", env!("CARGO_CRATE_NAME"), std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // The files of an earlier process with the same id.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
