//! The permissions of a program: what its operators request together.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
};

use k8s_openapi::api::rbac::v1::PolicyRule;

#[cfg(feature = "cli")]
use super::webhook_rights::webhook_reads;
use super::{
    account::Account, endpoint, error::ManifestError, grants::Grants, manifest::Manifest,
    migration_rights::MigrationRights, webhook_rights::WebhookRights,
};
use crate::{
    object::K8sType,
    operator::{OperatorConfig, Role, admission::Webhook, conversion::Versions},
};

/// The permissions that the operators of a program need together, and no others.
///
/// An operator of all namespaces needs a `ClusterRole`, one that is restricted to namespaces a `Role`
/// in each of them. The options of a child type change nothing: all of them need the same verbs.
///
/// Not included are
/// - `get` of `/openapi/v3/*`, for schemas: the cluster role `system:discovery` grants it to every
///   authenticated user;
/// - CRDs: the user who deploys the program installs them;
/// - what RBAC requires of those who write RBAC: where roles or bindings are children, the program
///   also needs all permissions that it grants by them;
/// - what a handler requests by a client of its own.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    everywhere: Grants,
    within: BTreeMap<String, Grants>,
    reviews: bool,
    /// The namespaced types of the parents.
    parents: BTreeSet<K8sType>,
    /// Where the Leases of a program are that elects a leader.
    leases: Option<Leases>,
    /// Whether the leader labels its Pod.
    labels_leader: bool,
    /// Where the Leases of a program are whose processes share the parents out.
    shards: Option<Leases>,
    /// What the certificates of its webhooks are for.
    webhooks: Option<WebhookRights>,
    /// The types whose objects it migrates.
    migration: Option<MigrationRights>,
}

/// The namespace of Leases.
#[derive(Debug, Clone)]
enum Leases {
    /// That of the account.
    Own,
    In(String),
}

impl Leases {
    fn of(namespace: Option<&str>) -> Self {
        namespace.map_or(Self::Own, |name| Self::In(name.to_owned()))
    }

    fn namespace(&self, account: &Account) -> String {
        match self {
            Self::Own => account.namespace.clone(),
            Self::In(namespace) => namespace.clone(),
        }
    }
}

impl Permissions {
    /// The permissions of these operators. Where some are decorators, see [`Permissions::and`].
    ///
    /// # Errors
    /// When a configuration could not be registered either.
    pub fn of<'a, R: Role>(
        operators: impl IntoIterator<Item = &'a OperatorConfig<R>>,
    ) -> Result<Self, ManifestError> {
        operators.into_iter().try_fold(Self::default(), Self::and)
    }

    /// Adds the permissions of one more operator, which may have another role.
    ///
    /// # Errors
    /// When its configuration could not be registered either.
    pub fn and<R: Role>(mut self, config: &OperatorConfig<R>) -> Result<Self, ManifestError> {
        config.validate()?;
        self.everywhere.allow_cluster_scoped(config);
        self.parents.extend(Some(&config.parent).filter(|ty| ty.is_namespaced()).cloned());
        match config.namespaces.names() {
            None => self.everywhere.allow_operator(config),
            Some(names) => {
                for name in names {
                    self.within.entry(name.clone()).or_default().allow_operator(config);
                }
            }
        }
        Ok(self)
    }

    /// The program serves the web endpoint, which shows the Events of others about parents and
    /// children, and what the Pods and claims of a child report that is not ready.
    #[must_use]
    pub fn with_web_endpoint(mut self) -> Self {
        let all = iter::once(&mut self.everywhere).chain(self.within.values_mut());
        for grants in all.filter(|grants| grants.has_operator()) {
            grants.allow_looking();
        }
        self
    }

    /// The same with `Auth::delegated()`: the API server reviews the users of the endpoint. Adds
    /// the cluster roles `{account}-metrics-reader`, `{account}-reader` and `{account}-commander`
    /// for these users, and `{account}-namespace-reader` and `{account}-namespace-commander`, which grant the parents of
    /// the namespace in which a `RoleBinding` binds them.
    #[must_use]
    pub fn with_delegated_auth(self) -> Self {
        Self { reviews: true, ..self.with_web_endpoint() }
    }

    /// The program elects a leader by Leases in this namespace. With `None` it is the namespace of the account.
    #[must_use]
    pub fn with_leader_election(mut self, namespace: Option<&str>) -> Self {
        self.leases = Some(Leases::of(namespace));
        self
    }

    /// The leader labels its Pod ([`LeaderElection::labels_pod`](crate::election::LeaderElection::labels_pod)). Without
    /// [`with_leader_election`](Self::with_leader_election) it grants nothing.
    ///
    /// The program may then patch every Pod in the namespace of the Leases, because RBAC cannot name the Pods of a
    /// Deployment. Who may change the image of a Pod runs code with its account and Secrets: run no other Pods there that
    /// may do more than the program.
    #[must_use]
    pub fn with_leader_label(mut self) -> Self {
        self.labels_leader = true;
        self
    }

    /// The processes of the program share the parents out ([`Sharding`](crate::election::Sharding)), by Leases in this
    /// namespace. With `None` it is the namespace of the account.
    ///
    /// They may also delete Leases there, of whomever: RBAC cannot name the members of a group, and one member deletes the
    /// Lease of another that ended.
    #[must_use]
    pub fn with_sharding(mut self, namespace: Option<&str>) -> Self {
        self.shards = Some(Leases::of(namespace));
        self
    }

    /// The replicas of the program share the certificates of its webhooks, and keep `caBundle` right. Adds the roles
    /// `{account}-webhooks`: for the Secret in the namespace of the account, and for the webhook configurations with the
    /// name of the program and the CRDs of these versions; and the cluster role `{account}-webhook-reads` for what these
    /// webhooks [read](Webhook::reads).
    #[must_use]
    pub fn with_webhooks<'a>(
        mut self,
        program: &str,
        webhooks: impl IntoIterator<Item = &'a Webhook>,
        versions: impl IntoIterator<Item = &'a Versions>,
    ) -> Self {
        self.webhooks = Some(WebhookRights::of(program, webhooks, versions));
        self
    }

    /// The leader of the program migrates the objects of these types from old versions, in all namespaces. Adds the cluster
    /// role `{account}-migration`: to list and update the objects, to read their CRDs, and to patch the status of these.
    #[must_use]
    pub fn with_migration<'a>(mut self, versions: impl IntoIterator<Item = &'a Versions>) -> Self {
        self.migration = MigrationRights::of(versions);
        self
    }

    /// The rules for all namespaces and for cluster-scoped objects; none where every operator is
    /// restricted to namespaces.
    pub fn rules(&self) -> Vec<PolicyRule> {
        self.everywhere.rules()
    }

    /// The rules for a namespace, of the operators that are restricted to some.
    pub fn rules_within(&self, namespace: &str) -> Vec<PolicyRule> {
        self.within.get(namespace).map(Grants::rules).unwrap_or_default()
    }

    /// The account with its roles and bindings.
    pub fn manifests(&self, account: &Account) -> Vec<Manifest> {
        let mut manifests = vec![Manifest::ServiceAccount(account.service_account())];
        if !self.everywhere.is_empty() {
            manifests.extend(Manifest::bound(account, &account.name, self.rules()));
        }
        for (namespace, grants) in &self.within_with_leases(account) {
            manifests.push(Manifest::Role(account.role(namespace, grants.rules())));
            manifests.push(Manifest::RoleBinding(account.binding(namespace)));
        }
        if self.reviews {
            let (name, rules) = endpoint::reviewer(account);
            manifests.extend(Manifest::bound(account, &name, rules));
            manifests.extend(endpoint::users(account, &self.parents).map(Manifest::ClusterRole));
        }
        manifests.extend(self.webhooks.iter().flat_map(|rights| rights.manifests(account)));
        if let Some(rights) = &self.migration {
            manifests.extend(Manifest::bound(account, &migration(&account.name), rights.rules()));
        }
        manifests
    }

    /// The permissions in single namespaces, with those for Leases.
    fn within_with_leases(&self, account: &Account) -> BTreeMap<String, Grants> {
        let mut within = self.within.clone();
        if let Some(leases) = &self.leases {
            let grants = within.entry(leases.namespace(account)).or_default();
            grants.allow_leases();
            if self.labels_leader {
                grants.allow_leader_label();
            }
        }
        if let Some(leases) = &self.shards {
            within.entry(leases.namespace(account)).or_default().allow_shards();
        }
        within
    }
}

/// The names of the cluster roles that a program does without which is restricted to namespaces.
#[cfg(feature = "cli")]
pub(crate) fn of_the_whole_cluster(account: &Account) -> [String; 2] {
    [webhook_reads(&account.name), migration(&account.name)]
}

fn migration(account: &str) -> String {
    format!("{account}-migration")
}

#[cfg(test)]
mod tests;
