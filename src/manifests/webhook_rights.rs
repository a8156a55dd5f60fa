//! The permissions of a program whose replicas share the certificates of their webhooks: each by name.

use k8s_openapi::api::rbac::v1::PolicyRule;

use super::{account::Account, manifest::Manifest, named_rule::rule, webhooks::webhook_secret};
use crate::operator::conversion::Versions;

/// What the certificates are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WebhookRights {
    /// The name of the program, which its webhook configurations and its Secret have.
    program: String,
    /// The CRDs of its versions.
    crds: Vec<String>,
}

impl WebhookRights {
    pub(super) fn of<'a>(program: &str, versions: impl IntoIterator<Item = &'a Versions>) -> Self {
        let crds = versions.into_iter().map(|it| it.hub.resource_name()).collect();
        Self { program: program.to_owned(), crds }
    }

    /// The roles and their bindings.
    pub(super) fn manifests(&self, account: &Account) -> [Manifest; 4] {
        let name = format!("{}-webhooks", account.name);
        let (role, binding) = account.named_role(&name, self.of_the_secret());
        [
            Manifest::Role(role),
            Manifest::RoleBinding(binding),
            Manifest::ClusterRole(account.cluster_role(&name, self.of_the_bundles())),
            Manifest::ClusterRoleBinding(account.cluster_binding(&name)),
        ]
    }

    /// RBAC cannot limit a creation to a name.
    fn of_the_secret(&self) -> Vec<PolicyRule> {
        let secret = webhook_secret(&self.program);
        vec![
            rule(("", &["secrets"]), Vec::new(), &["create"]),
            rule(("", &["secrets"]), vec![secret], &["get", "update", "watch"]),
        ]
    }

    fn of_the_bundles(&self) -> Vec<PolicyRule> {
        const VERBS: [&str; 3] = ["get", "patch", "watch"];
        let configurations = &["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
        let group = ("admissionregistration.k8s.io", &configurations[..]);
        let mut rules = vec![rule(group, vec![self.program.clone()], &VERBS)];
        if !self.crds.is_empty() {
            let crds = ("apiextensions.k8s.io", &["customresourcedefinitions"][..]);
            rules.push(rule(crds, self.crds.clone(), &VERBS));
        }
        rules
    }
}
