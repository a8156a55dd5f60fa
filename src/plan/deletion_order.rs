//! In which order children are deleted that are not desired any more: the reverse of the order in which they
//! were written. A process that was restarted does not know that order, and deletes by kind.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{ChildId, Deletion, LastApplied};
use crate::object::{K8sType, Object};

/// Kinds that are deleted early, in this order, as Helm deletes them (`UninstallOrder` of its package
/// `releaseutil`). Kinds that it does not know are deleted before these: custom resources go before their
/// definitions.
const BY_KIND: [&str; 33] = [
    "APIService",
    "Ingress",
    "IngressClass",
    "Service",
    "CronJob",
    "Job",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "DaemonSet",
    "RoleBinding",
    "Role",
    "ClusterRoleBinding",
    "ClusterRole",
    "CustomResourceDefinition",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "PodDisruptionBudget",
    "PodSecurityPolicy",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "PriorityClass",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "Namespace",
];

/// The deletions, those with the highest rank first, and those of one rank by kind.
pub(super) fn sorted(
    mut deletions: Vec<Deletion>,
    ranks: &BTreeMap<ChildId, u16>,
) -> Vec<Deletion> {
    let rank = |id: &ChildId| ranks.get(id).copied().unwrap_or_default();
    deletions.sort_by_key(|it| (Reverse(rank(&it.id)), by_kind(&it.id.ty)));
    deletions
}

/// The children of a parent that is being deleted, in the order in which they are deleted.
pub(crate) fn of_all(mut children: Vec<Object>, last_applied: &LastApplied) -> Vec<Object> {
    children.sort_by_key(|child| (Reverse(last_applied.rank(child)), by_kind(child.ty())));
    children
}

/// Those that others wait for, and those that wait.
pub(super) fn leaving(ranked: Vec<(ChildId, u16)>) -> Vec<(ChildId, u16)> {
    let first = ranked.first().map(|(_, rank)| *rank);
    let are_equal = ranked.iter().all(|(_, rank)| Some(*rank) == first);
    if are_equal { Vec::new() } else { ranked }
}

fn by_kind(ty: &K8sType) -> Option<usize> {
    let is_built_in = ty.is_builtin();
    BY_KIND.iter().position(|kind| is_built_in && *kind == ty.kind())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::KeptManagers;

    fn deletion(ty: &K8sType, name: &str) -> Deletion {
        let value = json!({"metadata": {
            "name": name, "namespace": "ns", "uid": name, "resourceVersion": "1",
        }});
        Deletion::undesired(&Object::from_value(ty, &value, &KeptManagers::default()).unwrap())
    }

    fn names(deletions: &[Deletion]) -> Vec<&str> {
        deletions.iter().map(|it| &*it.id.key.name).collect()
    }

    #[test]
    fn what_was_written_last_is_deleted_first_and_the_rest_goes_by_kind() {
        let secret = K8sType::namespaced("v1", "Secret", "secrets");
        let service = K8sType::namespaced("v1", "Service", "services");
        let role = K8sType::namespaced("rbac.authorization.k8s.io/v1", "Role", "roles");
        let app = K8sType::namespaced("example.com/v1", "App", "apps");
        let all = || {
            [(&secret, "secret"), (&service, "service"), (&app, "app"), (&role, "role")]
                .map(|(ty, name)| deletion(ty, name))
                .to_vec()
        };
        assert_eq!(names(&sorted(all(), &<_>::default())), ["app", "service", "role", "secret"]);
        let ranks =
            all().iter().zip([2, 0, 1, 0]).map(|(it, rank)| (it.id.clone(), rank)).collect();
        assert_eq!(names(&sorted(all(), &ranks)), ["secret", "app", "service", "role"]);
    }

    #[test]
    fn children_of_one_rank_do_not_wait_for_each_other() {
        let ty = K8sType::namespaced("v1", "Secret", "secrets");
        let ids = |ranks: [u16; 2]| {
            ["a", "b"].map(|name| deletion(&ty, name).id).into_iter().zip(ranks).collect()
        };
        assert!(leaving(ids([1, 1])).is_empty() && leaving(Vec::new()).is_empty());
        assert_eq!(leaving(ids([1, 0])), ids([1, 0]));
    }
}
