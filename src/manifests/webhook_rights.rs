//! The permissions of a program with webhooks: for the certificates that its replicas share each by name, and to read what
//! handlers read.

use std::collections::BTreeSet;

use k8s_openapi::api::rbac::v1::PolicyRule;

use super::{
    account::Account, grants::READ, manifest::Manifest, named_rule::rule, webhooks::webhook_secret,
};
use crate::{
    object::K8sType,
    operator::{admission::Webhook, conversion::Versions},
};

/// What the certificates are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WebhookRights {
    /// The name of the program, which its webhook configurations and its Secret have.
    program: String,
    /// The CRDs of its versions.
    crds: Vec<String>,
    /// The types of which webhooks read all objects.
    reads: BTreeSet<K8sType>,
}

impl WebhookRights {
    pub(super) fn of<'a>(
        program: &str,
        webhooks: impl IntoIterator<Item = &'a Webhook>,
        versions: impl IntoIterator<Item = &'a Versions>,
    ) -> Self {
        let crds = versions.into_iter().map(|it| it.hub.resource_name()).collect();
        let reads = webhooks.into_iter().flat_map(|webhook| &webhook.reads).cloned().collect();
        Self { program: program.to_owned(), crds, reads }
    }

    /// The roles and their bindings.
    pub(super) fn manifests(&self, account: &Account) -> Vec<Manifest> {
        let name = format!("{}-webhooks", account.name);
        let (role, binding) = account.named_role(&name, self.of_the_secret());
        let mut all = vec![Manifest::Role(role), Manifest::RoleBinding(binding)];
        all.extend(Manifest::bound(account, &name, self.of_the_bundles()));
        if !self.reads.is_empty() {
            all.extend(Manifest::bound(account, &webhook_reads(&account.name), self.of_handlers()));
        }
        all
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

    fn of_handlers(&self) -> Vec<PolicyRule> {
        let read = |ty: &K8sType| rule((ty.group(), &[ty.plural()]), Vec::new(), &READ);
        self.reads.iter().map(read).collect()
    }
}

/// The name of the cluster role with what handlers of webhooks read.
pub(super) fn webhook_reads(account: &str) -> String {
    format!("{account}-webhook-reads")
}
