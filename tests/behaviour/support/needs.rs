//! Features of the API server that a test needs and not every server offers. `OPERETTA_TEST_CLUSTER` alone
//! decides before anything is started; without the feature the test is ignored.

use std::env;

use operetta_controlplane::Version;
use operetta_harness::ignore;

use Chosen::{ControlPlane, Embedded, Kubeconfig};

/// The server that the environment chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chosen {
    Embedded,
    ControlPlane(Version),
    /// The cluster of a kubeconfig.
    Kubeconfig,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Need {
    /// [`crate::world::World::our_requests`].
    RequestLog,
    /// [`crate::cluster::Cluster::forget_history`].
    Forgetting,
    /// [`crate::cluster::Cluster::backup`].
    Backup,
    /// Mutating admission policies, which apply to all users of the server.
    Policies,
    /// Pods that become ready as soon as they exist: [`crate::kubelet`].
    Workloads,
    /// Admission of connections, and of what controllers delete.
    FullAdmission,
    /// RBAC rules, users with few permissions, and tokens for audiences.
    Rbac,
}

impl Chosen {
    pub(crate) fn from_environment() -> Self {
        let cluster = env::var("OPERETTA_TEST_CLUSTER").unwrap_or_else(|_| "embedded".into());
        match (cluster.as_str(), Version::chosen(&cluster)) {
            (_, Some(version)) => ControlPlane(version.unwrap()),
            ("embedded", _) => Embedded,
            ("kubeconfig", _) => Kubeconfig,
            _ => {
                panic!("OPERETTA_TEST_CLUSTER={cluster}: use embedded, controlplane or kubeconfig")
            }
        }
    }
}

/// Ignores the test if the server does not offer this.
pub(crate) fn needs(need: Need) {
    if let Some(reason) = why_not(need, Chosen::from_environment()) {
        ignore(reason);
    }
}

fn why_not(need: Need, chosen: Chosen) -> Option<&'static str> {
    match (need, chosen) {
        (Need::FullAdmission, Embedded) => Some(
            "the embedded server asks nobody about connections, nor about what its controllers delete",
        ),
        (_, ControlPlane(_) | Embedded) | (Need::FullAdmission, Kubeconfig) => None,
        (Need::RequestLog, Kubeconfig) => Some("the cluster of a kubeconfig has no request log"),
        (Need::Forgetting, Kubeconfig) => Some("the cluster of a kubeconfig keeps its history"),
        (Need::Backup, Kubeconfig) => Some("the cluster of a kubeconfig is not restored by tests"),
        (Need::Policies, Kubeconfig) => Some("the cluster of a kubeconfig gets no policies"),
        (Need::Workloads, Kubeconfig) => Some("the cluster of a kubeconfig would pull the images"),
        (Need::Rbac, Kubeconfig) => Some("the cluster of a kubeconfig has no users for tests"),
    }
}
