//! The API server that a test runs on.

use std::{
    env,
    sync::{LazyLock, OnceLock},
};

use kube::Client;
use operetta_controlplane::ControlPlane;
use tokio::sync::{Mutex, MutexGuard};

/// One request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) user_agent: String,
}

impl Request {
    pub(crate) fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }
}

/// Where a test runs.
pub(crate) enum Cluster {
    /// The real control plane; there is one per test program, used by one test at a time.
    Real(&'static ControlPlane, #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>),
}

static ONE_AT_A_TIME: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);

impl Cluster {
    /// The cluster that the environment chooses; `None`, after saying why, when it cannot be had.
    pub(crate) async fn start() -> Option<Self> {
        match env::var("OPERETTA_TEST_CLUSTER").as_deref() {
            Ok("controlplane") => Self::real().await,
            Ok(other) => panic!("OPERETTA_TEST_CLUSTER={other}: use embedded or controlplane"),
            Err(_) => None,
        }
    }

    async fn real() -> Option<Self> {
        static SHARED: OnceLock<Option<ControlPlane>> = OnceLock::new();
        let guard = ONE_AT_A_TIME.lock().await;
        let start = || SHARED.get_or_init(|| start_real()).as_ref();
        let shared = tokio::task::spawn_blocking(start).await.unwrap()?;
        Some(Self::Real(shared, guard))
    }

    /// An administrator's client for the calling runtime.
    pub(crate) fn client(&self) -> Client {
        match self {
            Self::Real(cluster, _) => cluster.client().unwrap(),
        }
    }

    /// How a supervisor connects.
    pub(crate) fn connector(
        &self,
    ) -> impl FnOnce() -> futures::future::BoxFuture<'static, anyhow::Result<Client>> + Send + 'static
    {
        match self {
            Self::Real(cluster, _) => {
                let mut config = cluster.kube_config();
                config.default_retry = false;
                move || {
                    let client = async move { Ok(Client::try_from(config)?) };
                    Box::pin(client) as futures::future::BoxFuture<'static, _>
                }
            }
        }
    }

    /// Every request that the server has answered (watches: begun to answer), oldest first.
    pub(crate) fn requests(&self) -> Vec<Request> {
        match self {
            Self::Real(cluster, _) => {
                let events = cluster.audit_events().unwrap().into_iter();
                let begun = events
                    .filter(|event| event.stage == "ResponseStarted" || event.verb != "watch");
                begun
                    .map(|event| Request {
                        verb: event.verb,
                        resource: event.resource,
                        subresource: event.subresource,
                        user_agent: event.user_agent,
                    })
                    .collect()
            }
        }
    }
}

/// The control plane, or `None` where it cannot run and is not demanded.
fn start_real() -> Option<ControlPlane> {
    match ControlPlane::start() {
        Ok(cluster) => Some(cluster),
        Err(operetta_controlplane::Error::Unavailable { reason }) if env::var("CI").is_err() => {
            eprintln!("skipped on the real control plane: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
