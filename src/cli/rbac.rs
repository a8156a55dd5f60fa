//! `deploy/rbac.yaml`: the permissions that the operators need, and no others.
//!
//! Installing CRDs is not included: whoever deploys the operators does that.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::ObjectMeta;

use super::{deployed::Deployed, header::header};
use crate::{
    manifests::{Account, ManifestError, Permissions, to_yaml},
    operator::AnyOperator,
};

/// The permissions of the operators with the endpoint that a [program](super::Program) serves, and those of
/// `--leader-elect`.
///
/// # Errors
/// The declarations of an operator make no manifest.
pub fn permissions(operators: &[AnyOperator]) -> Result<Permissions, ManifestError> {
    Ok(serving(operators)?.with_leader_election(None))
}

/// The same with those of `--sharded` instead, whose group is `[NAMESPACE/]NAME`.
pub(super) fn sharded(
    operators: &[AnyOperator],
    group: &str,
) -> Result<Permissions, ManifestError> {
    let namespace = group.split_once('/').map(|(namespace, _)| namespace);
    Ok(serving(operators)?.with_sharding(namespace))
}

fn serving(operators: &[AnyOperator]) -> Result<Permissions, ManifestError> {
    Ok(Permissions::of(operators.iter().map(AnyOperator::config))?.with_delegated_auth())
}

/// Namespace, account, roles and bindings as YAML; `flags` are those with which the operators were chosen.
pub(super) fn yaml(
    deployed: &Deployed,
    permissions: &Permissions,
    flags: &[String],
) -> Result<String, ManifestError> {
    let namespace = to_yaml(&header("rbac", flags), &[namespace(deployed)])?;
    let account = Account::new(&deployed.name, &deployed.namespace);
    Ok(namespace + &to_yaml("", &permissions.manifests(&account))?)
}

fn namespace(deployed: &Deployed) -> Namespace {
    // The Pods of the operators need no privilege.
    let labels = [
        ("app.kubernetes.io/name", &*deployed.name),
        ("pod-security.kubernetes.io/enforce", "restricted"),
        ("pod-security.kubernetes.io/warn", "restricted"),
    ];
    let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let name = Some(deployed.namespace.clone());
    let metadata = ObjectMeta { name, labels: Some(labels), ..ObjectMeta::default() };
    Namespace { metadata, ..Namespace::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{object::K8sType, operator::OperatorConfig, supervisor::tests::sync};

    #[test]
    fn only_processes_of_a_group_may_delete_leases_in_its_namespace() {
        let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
        let operators = [AnyOperator::new(OperatorConfig::new("website", website), sync)];
        let deployed = Deployed::new("website", "1.2.3").namespace("web");
        let text = |permissions: Permissions| yaml(&deployed, &permissions, &[]).unwrap();
        let leases = |delete: &str| {
            format!("  - leases\n  verbs:\n  - create\n{delete}  - get\n  - list\n  - update\n")
        };
        let elected = text(permissions(&operators).unwrap());
        assert!(elected.contains(&leases("")), "{elected}");
        for (group, namespace) in [("cooks", "web"), ("kitchen/cooks", "kitchen")] {
            let shared = text(sharded(&operators, group).unwrap());
            assert!(shared.contains(&leases("  - delete\n")), "{group}: {shared}");
            let role = format!(
                "kind: Role\nmetadata:\n  labels:\n    \
                app.kubernetes.io/name: website\n  name: website\n  namespace: {namespace}\n"
            );
            assert!(shared.contains(&role), "{group}: {shared}");
        }
    }
}
