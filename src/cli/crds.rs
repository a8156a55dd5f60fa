//! `deploy/crds.yaml`: the CRDs of the parent types.

use super::header::header;
use crate::{
    manifests::{self, ManifestError, to_yaml},
    operator::AnyOperator,
};

/// The CRD of each operator's parent type that is its own, as YAML; `flags` are those with which the operators were chosen.
pub(super) fn yaml(operators: &[AnyOperator], flags: &[String]) -> Result<String, ManifestError> {
    let crds = manifests::crds(operators.iter().map(AnyOperator::config))?;
    to_yaml(&header("crds", flags), &crds)
}
