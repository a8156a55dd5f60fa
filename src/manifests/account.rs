//! The account of a program, its roles and their bindings.

use k8s_openapi::{
    api::{
        core::v1::ServiceAccount,
        rbac::v1::{
            ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
        },
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

/// The service account that a program runs with. Its roles and bindings have its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The name, for example of the program.
    pub name: String,
    /// The namespace of the program's Pods.
    pub namespace: String,
}

impl Account {
    /// An account of this name in this namespace.
    pub fn new(name: &str, namespace: &str) -> Self {
        Self { name: name.to_owned(), namespace: namespace.to_owned() }
    }

    pub(super) fn service_account(&self) -> ServiceAccount {
        let metadata = self.metadata_in(&self.namespace);
        ServiceAccount { metadata, ..ServiceAccount::default() }
    }

    pub(super) fn cluster_role(&self, name: &str, rules: Vec<PolicyRule>) -> ClusterRole {
        let metadata = self.metadata(name);
        ClusterRole { metadata, rules: Some(rules), ..ClusterRole::default() }
    }

    /// Binds a cluster role of this name to the account.
    pub(super) fn cluster_binding(&self, name: &str) -> ClusterRoleBinding {
        ClusterRoleBinding {
            metadata: self.metadata(name),
            role_ref: role_ref("ClusterRole", name),
            subjects: Some(vec![self.subject()]),
        }
    }

    /// A role in a namespace.
    pub(super) fn role(&self, namespace: &str, rules: Vec<PolicyRule>) -> Role {
        Role { metadata: self.metadata_in(namespace), rules: Some(rules) }
    }

    /// Binds the role of a namespace to the account.
    pub(super) fn binding(&self, namespace: &str) -> RoleBinding {
        RoleBinding {
            metadata: self.metadata_in(namespace),
            role_ref: role_ref("Role", &self.name),
            subjects: Some(vec![self.subject()]),
        }
    }

    /// A role of another name in its own namespace, and its binding.
    pub(super) fn named_role(&self, name: &str, rules: Vec<PolicyRule>) -> (Role, RoleBinding) {
        let metadata =
            ObjectMeta { namespace: Some(self.namespace.clone()), ..self.metadata(name) };
        let binding = RoleBinding {
            metadata: metadata.clone(),
            role_ref: role_ref("Role", name),
            subjects: Some(vec![self.subject()]),
        };
        (Role { metadata, rules: Some(rules) }, binding)
    }

    fn subject(&self) -> Subject {
        Subject {
            kind: "ServiceAccount".to_owned(),
            name: self.name.clone(),
            namespace: Some(self.namespace.clone()),
            ..Subject::default()
        }
    }

    fn metadata_in(&self, namespace: &str) -> ObjectMeta {
        ObjectMeta { namespace: Some(namespace.to_owned()), ..self.metadata(&self.name) }
    }

    fn metadata(&self, name: &str) -> ObjectMeta {
        let labels = [("app.kubernetes.io/name".to_owned(), self.name.clone())].into();
        ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() }
    }
}

fn role_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: Some("rbac.authorization.k8s.io".to_owned()),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}
