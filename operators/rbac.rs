//! `deploy/rbac.yaml`: the permissions that the operators need, and no others.
//!
//! Installing CRDs is not included: whoever deploys the operators does that.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::ObjectMeta;
use operetta::manifests::{Account, Manifest, ManifestError, Permissions, to_yaml};

use crate::{Operator, manifest};

/// The namespace of the operators.
pub const NAMESPACE: &str = "operetta-system";
/// The name of the account, and with it of its roles.
pub(crate) const NAME: &str = "operetta";

/// The permissions of the operators with the endpoint that the binary serves, and those of `--leader-elect`.
pub fn permissions(operators: &[Operator]) -> Result<Permissions, ManifestError> {
    let configs = operators.iter().map(|one| one.operator.config());
    Ok(Permissions::of(configs)?.with_delegated_auth().with_leader_election(None))
}

/// Account, roles and bindings.
pub fn manifests(operators: &[Operator]) -> Result<Vec<Manifest>, ManifestError> {
    Ok(permissions(operators)?.manifests(&Account::new(NAME, NAMESPACE)))
}

/// The same with the namespace, as YAML; `flags` are those with which the operators were chosen.
pub fn yaml(operators: &[Operator], flags: &[String]) -> Result<String, ManifestError> {
    let namespace = to_yaml(&manifest::header("rbac", flags), &[namespace()])?;
    Ok(namespace + &to_yaml("", &manifests(operators)?)?)
}

fn namespace() -> Namespace {
    // The Pods of the operators need no privilege.
    let labels = [
        ("app.kubernetes.io/name", NAME),
        ("pod-security.kubernetes.io/enforce", "restricted"),
        ("pod-security.kubernetes.io/warn", "restricted"),
    ];
    let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let name = Some(NAMESPACE.to_owned());
    let metadata = ObjectMeta { name, labels: Some(labels), ..ObjectMeta::default() };
    Namespace { metadata, ..Namespace::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_permissions_are_up_to_date() {
        manifest::assert_committed("rbac", &yaml(&crate::all(), &[]).unwrap());
    }

    #[test]
    fn no_rule_is_a_wildcard() {
        let rules = permissions(&crate::all()).unwrap().rules();
        assert!(!rules.is_empty() && !format!("{rules:?}").contains('*'), "{rules:?}");
    }
}
