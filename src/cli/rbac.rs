//! `deploy/rbac.yaml`: the permissions that the operators need, and no others.
//!
//! Installing CRDs is not included: whoever deploys the operators does that.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::ObjectMeta;

use super::{crds::Types, deployed::Deployed, header::header};
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
    let configs = operators.iter().map(AnyOperator::config);
    Ok(Permissions::of(configs)?.with_delegated_auth().with_leader_election(None))
}

/// Namespace, account, roles and bindings as YAML; `flags` are those with which the operators were chosen.
pub(super) fn yaml(
    deployed: &Deployed,
    operators: &[AnyOperator],
    types: &Types,
    flags: &[String],
) -> Result<String, ManifestError> {
    let namespace = to_yaml(&header("rbac", flags), &[namespace(deployed)])?;
    let permissions = types.permit(permissions(operators)?);
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
