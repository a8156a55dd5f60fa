//! `deploy/rbac.yaml`: what the operators may do, and not a verb more.
//!
//! The rules follow from the declarations. Installing CRDs is not among them: whoever deploys the
//! operators does that. Reading the schemas and health needs no rule of ours.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::{
    core::v1::{Namespace, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject},
};
use kube::api::ObjectMeta;
use operetta::object::K8sType;

use crate::{Operator, manifest};

/// Where the operators run.
pub const NAMESPACE: &str = "operetta-system";
/// What the account, its role and the binding are called.
const NAME: &str = "operetta";

/// Every store watches, and reads live before it acts on a doubt.
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

    fn of(operators: &[Operator]) -> Self {
        let mut grants = Self::default();
        for operator in operators {
            grants.for_parent(&operator.config.parent, operator.handler.has_finalizer());
            for child in &operator.config.children {
                grants.allow(child.ty.group(), child.ty.plural().to_owned(), KEEP);
            }
        }
        grants.allow("events.k8s.io", "events".to_owned(), &["create"]);
        grants
    }

    fn for_parent(&mut self, parent: &K8sType, has_finalizer: bool) {
        let (group, plural) = (parent.group(), parent.plural());
        self.allow(group, plural.to_owned(), WATCH);
        self.allow(group, format!("{plural}/status"), &["patch"]);
        // For `blockOwnerDeletion` in the children's owner references.
        self.allow(group, format!("{plural}/finalizers"), &["update"]);
        if has_finalizer {
            self.allow(group, plural.to_owned(), &["patch"]);
        }
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

/// The role of the process that runs all these operators.
pub fn cluster_role(operators: &[Operator]) -> ClusterRole {
    let rules = Some(Grants::of(operators).into_rules());
    ClusterRole { metadata: named(NAME), rules, ..ClusterRole::default() }
}

/// Namespace, account, role and binding as YAML.
pub fn yaml(operators: &[Operator]) -> Result<String, serde_yaml_ng::Error> {
    Ok([
        manifest::header("rbac"),
        manifest::document(&Namespace { metadata: named(NAMESPACE), ..Namespace::default() })?,
        manifest::document(&service_account())?,
        manifest::document(&cluster_role(operators))?,
        manifest::document(&binding())?,
    ]
    .concat())
}

fn service_account() -> ServiceAccount {
    let metadata = ObjectMeta { namespace: Some(NAMESPACE.to_owned()), ..named(NAME) };
    ServiceAccount { metadata, ..ServiceAccount::default() }
}

fn binding() -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata: named(NAME),
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "ClusterRole".to_owned(),
            name: NAME.to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: NAME.to_owned(),
            namespace: Some(NAMESPACE.to_owned()),
            ..Subject::default()
        }]),
    }
}

fn named(name: &str) -> ObjectMeta {
    let labels = [("app.kubernetes.io/name".to_owned(), NAME.to_owned())].into();
    ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verbs(operators: &[Operator], group: &str, resource: &str) -> Vec<String> {
        let rules = cluster_role(operators).rules.unwrap();
        let fits = |rule: &&PolicyRule| {
            rule.api_groups.as_ref().unwrap().contains(&group.to_owned())
                && rule.resources.as_ref().unwrap().contains(&resource.to_owned())
        };
        let of_rule = |rule: &PolicyRule| rule.verbs.clone();
        rules.iter().find(fits).map(of_rule).unwrap_or_default()
    }

    #[test]
    fn the_committed_permissions_are_those_of_the_declarations() {
        manifest::assert_committed("rbac", &yaml(&crate::all()).unwrap());
    }

    #[test]
    fn parents_are_read_and_only_their_status_is_written() {
        let operators = crate::all();
        let group = "example.operetta.dev";
        for plural in ["echoservers", "tempnamespaces"] {
            assert_eq!(verbs(&operators, group, plural), ["get", "list", "watch"]);
            assert_eq!(verbs(&operators, group, &format!("{plural}/status")), ["patch"]);
            assert_eq!(verbs(&operators, group, &format!("{plural}/finalizers")), ["update"]);
        }
    }

    #[test]
    fn a_parent_is_patched_only_for_a_handler_with_a_finalizer() {
        struct Finalizing;
        impl operetta::operator::Handler for Finalizing {
            fn sync(
                &self,
                _: &operetta::operator::SyncRequest,
            ) -> anyhow::Result<operetta::operator::SyncResponse> {
                Ok(operetta::operator::SyncResponse::new())
            }

            fn has_finalizer(&self) -> bool {
                true
            }
        }
        let config = crate::echo_server::config();
        let operator = Operator::of::<crate::echo_server::EchoServer>(config, Finalizing);
        let verbs = verbs(&[operator], "example.operetta.dev", "echoservers");
        assert_eq!(verbs, ["get", "list", "patch", "watch"]);
    }

    #[test]
    fn children_are_kept_and_nothing_else_may_be_touched() {
        let operators = crate::all();
        for child in ["pods", "services", "namespaces"] {
            let expected = ["create", "delete", "get", "list", "patch", "watch"];
            assert_eq!(verbs(&operators, "", child), expected);
        }
        assert!(verbs(&operators, "", "secrets").is_empty());
        let rules = cluster_role(&operators).rules.unwrap();
        assert!(!format!("{rules:?}").contains('*'), "no wildcard");
    }
}
