//! The account of the operators, its name, and its bindings to roles.

use k8s_openapi::api::{
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRoleBinding, Role, RoleBinding, RoleRef, Subject},
};
use kube::api::ObjectMeta;

/// The namespace of the operators.
pub const NAMESPACE: &str = "operetta-system";
/// The name of the account, its role and the binding.
pub(super) const NAME: &str = "operetta";

pub(super) fn service_account() -> ServiceAccount {
    ServiceAccount { metadata: named_in(NAMESPACE), ..ServiceAccount::default() }
}

pub(super) fn binding() -> ClusterRoleBinding {
    cluster_binding(NAME)
}

/// Binds a cluster role of this name to the operators' account.
pub(super) fn cluster_binding(name: &str) -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata: named(name),
        role_ref: RoleRef { name: name.to_owned(), ..role_ref("ClusterRole") },
        subjects: Some(vec![subject()]),
    }
}

pub(super) fn binding_of(role: &Role) -> RoleBinding {
    RoleBinding {
        metadata: role.metadata.clone(),
        role_ref: role_ref("Role"),
        subjects: Some(vec![subject()]),
    }
}

fn role_ref(kind: &str) -> RoleRef {
    RoleRef {
        api_group: Some("rbac.authorization.k8s.io".to_owned()),
        kind: kind.to_owned(),
        name: NAME.to_owned(),
    }
}

fn subject() -> Subject {
    Subject {
        kind: "ServiceAccount".to_owned(),
        name: NAME.to_owned(),
        namespace: Some(NAMESPACE.to_owned()),
        ..Subject::default()
    }
}

pub(super) fn named_in(namespace: &str) -> ObjectMeta {
    ObjectMeta { namespace: Some(namespace.to_owned()), ..named(NAME) }
}

pub(super) fn named(name: &str) -> ObjectMeta {
    let labels = [("app.kubernetes.io/name".to_owned(), NAME.to_owned())].into();
    ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() }
}
