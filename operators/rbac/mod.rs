//! `deploy/rbac.yaml`: the permissions that the operators need, and no others.
//!
//! The rules follow from the declarations: an operator that is restricted to namespaces gets a role
//! in each of them instead of rules in the cluster role, except for cluster-scoped children.
//! Installing CRDs is not included: whoever deploys the operators does that. Reading schemas and
//! health needs no rule.
//!
//! `access` contains the permissions for the web endpoint.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::{
    core::v1::Namespace,
    rbac::v1::{ClusterRole, PolicyRule, Role},
};
use operetta::object::K8sType;

pub mod access;
mod account;

pub use account::NAMESPACE;
use account::{NAME, binding, binding_of, named, named_in, service_account};

use crate::{Operator, manifest};

/// Every store watches, and in doubt reads live.
const WATCH: &[&str] = &["get", "list", "watch"];
/// A server-side apply that creates needs `create` beside `patch`.
const KEEP: &[&str] = &["get", "list", "watch", "create", "patch", "delete"];

/// Verbs by group and resource.
#[derive(Default)]
struct Grants(BTreeMap<(String, String), BTreeSet<&'static str>>);

impl Grants {
    fn allow(&mut self, group: &str, resource: String, verbs: &[&'static str]) {
        self.0.entry((group.to_owned(), resource)).or_default().extend(verbs);
    }

    /// The permissions of operators, with those of their children that can be granted together.
    fn of<'a>(
        operators: impl IntoIterator<Item = &'a Operator>,
        can_be_granted: impl Fn(&K8sType) -> bool,
    ) -> Self {
        let mut grants = Self::default();
        for operator in operators {
            let config = &operator.config;
            grants.for_parent(&config.parent);
            let children = config.children.iter().map(|child| &child.ty);
            children.filter(|ty| can_be_granted(ty)).for_each(|ty| grants.for_child(ty));
            grants.allow("events.k8s.io", "events".to_owned(), &["create", "patch"]);
            // To show the Events of others about parents and children.
            grants.allow("", "events".to_owned(), &["list"]);
        }
        grants
    }

    fn for_parent(&mut self, parent: &K8sType) {
        let (group, plural) = (parent.group(), parent.plural());
        self.allow(group, plural.to_owned(), WATCH);
        // For the annotation that pauses it, and for our finalizer where there is one.
        self.allow(group, plural.to_owned(), &["patch"]);
        self.allow(group, format!("{plural}/status"), &["patch"]);
        // For `blockOwnerDeletion` in the children's owner references.
        self.allow(group, format!("{plural}/finalizers"), &["update"]);
    }

    fn for_child(&mut self, child: &K8sType) {
        self.allow(child.group(), child.plural().to_owned(), KEEP);
    }

    /// Resources of one group with the same verbs share a rule.
    fn into_rules(self) -> Vec<PolicyRule> {
        let mut rules: BTreeMap<(String, BTreeSet<&str>), Vec<String>> = BTreeMap::new();
        for ((group, resource), verbs) in self.0 {
            rules.entry((group, verbs)).or_default().push(resource);
        }
        let rule = |((group, verbs), resources): ((String, BTreeSet<&str>), _)| PolicyRule {
            api_groups: Some(vec![group]),
            resources: Some(resources),
            verbs: verbs.into_iter().map(str::to_owned).collect(),
            ..PolicyRule::default()
        };
        rules.into_iter().map(rule).collect()
    }
}

fn cluster_scoped_children(operator: &Operator) -> impl Iterator<Item = &K8sType> {
    operator.config.children.iter().map(|child| &child.ty).filter(|ty| !ty.is_namespaced())
}

/// The permissions of the operators without a restriction to namespaces, and those of the others
/// for cluster-scoped children; without rules if there are none.
pub fn cluster_role(operators: &[Operator]) -> ClusterRole {
    let everywhere = operators.iter().filter(|one| one.config.namespaces.names().is_none());
    let mut grants = Grants::of(everywhere, |_| true);
    operators.iter().flat_map(cluster_scoped_children).for_each(|ty| grants.for_child(ty));
    let rules = Some(grants.into_rules());
    ClusterRole { metadata: named(NAME), rules, ..ClusterRole::default() }
}

/// The permissions of the operators that are restricted to namespaces, a role for each namespace.
pub fn roles(operators: &[Operator]) -> Vec<Role> {
    let names = operators.iter().filter_map(|one| one.config.namespaces.names());
    let namespaces: BTreeSet<&String> = names.flatten().collect();
    let role = |namespace: &String| {
        let works_here = |one: &&Operator| {
            let names = one.config.namespaces.names();
            names.is_some_and(|names| names.contains(namespace))
        };
        let here = operators.iter().filter(works_here);
        let rules = Some(Grants::of(here, K8sType::is_namespaced).into_rules());
        Role { metadata: named_in(namespace), rules }
    };
    namespaces.into_iter().map(role).collect()
}

/// Namespace, account, roles and bindings as YAML.
pub fn yaml(operators: &[Operator]) -> Result<String, serde_yaml_ng::Error> {
    let mut documents = vec![
        manifest::header("rbac"),
        manifest::document(&Namespace { metadata: named(NAMESPACE), ..Namespace::default() })?,
        manifest::document(&service_account())?,
    ];
    let cluster_role = cluster_role(operators);
    if cluster_role.rules.as_ref().is_some_and(|rules| !rules.is_empty()) {
        documents.push(manifest::document(&cluster_role)?);
        documents.push(manifest::document(&binding())?);
    }
    for role in roles(operators) {
        documents.push(manifest::document(&role)?);
        documents.push(manifest::document(&binding_of(&role))?);
    }
    documents.push(manifest::document(&access::reviewer())?);
    documents.push(manifest::document(&access::reviewer_binding())?);
    for role in access::users() {
        documents.push(manifest::document(&role)?);
    }
    Ok(documents.concat())
}

#[cfg(test)]
mod tests;
