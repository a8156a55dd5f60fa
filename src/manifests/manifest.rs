//! An object of a file of permissions.

use k8s_openapi::api::{
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding},
};
use serde::Serialize;

use super::account::Account;

/// An object that [`Permissions::manifests`](super::Permissions::manifests) consists of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Manifest {
    /// The account that the program runs with.
    ServiceAccount(ServiceAccount),
    /// What it may do everywhere, or what users of its web endpoint may do.
    ClusterRole(ClusterRole),
    /// Binds a cluster role to the account.
    ClusterRoleBinding(ClusterRoleBinding),
    /// What it may do in a namespace.
    Role(Role),
    /// Binds a role to the account.
    RoleBinding(RoleBinding),
}

impl Manifest {
    /// A cluster role of an account, and its binding.
    pub(super) fn bound(account: &Account, name: &str, rules: Vec<PolicyRule>) -> [Self; 2] {
        [
            Self::ClusterRole(account.cluster_role(name, rules)),
            Self::ClusterRoleBinding(account.cluster_binding(name)),
        ]
    }
}
