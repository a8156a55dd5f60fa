//! The errors of manifests.

use crate::operator::{ConfigError, conversion::VersionsError};

/// A manifest cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// An operator could not be registered.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The versions of a type do not belong together.
    #[error(transparent)]
    Versions(#[from] VersionsError),
    /// Versions of a type have something different that belongs to the whole type.
    #[error(
        "the versions of the CRD {name} disagree: its {field} is {one}, and {other}. A type has one {field}: write the same \
         in all of its versions"
    )]
    Disagree {
        /// The CRD.
        name: String,
        /// The field.
        field: &'static str,
        /// Its value, and where.
        one: String,
        /// The other one.
        other: String,
    },
    /// An operator has parents of a version that the program does not name elsewhere.
    #[error(
        "an operator brings along version {version} of the CRD {name}, which otherwise has {known}: name all versions with \
         one hub by `SupervisorBuilder::versions`"
    )]
    OtherVersion {
        /// The CRD.
        name: String,
        /// The version.
        version: String,
        /// The other versions.
        known: String,
    },
    /// The framework could not write the conditions of the parents: the API server drops fields that
    /// a CRD does not declare.
    #[error(
        "version {version} of the CRD {name} does not declare {path}: derive it with \
         `#[kube(status = \"...\")]` and a field `conditions: operetta::operator::Conditions` in that status"
    )]
    NotDeclared {
        /// The CRD.
        name: String,
        /// Its version.
        version: String,
        /// The field that is missing.
        path: String,
    },
    /// Its Rust type has no schema that a CRD may have.
    #[error("the schema of {name} is none that a CRD may have: {why}")]
    Schema {
        /// The Rust type, or the CRD and its version.
        name: String,
        /// What is wrong, where, and what to do.
        why: String,
    },
    /// An object does not fit into YAML.
    #[error("cannot write an object as YAML")]
    Yaml(#[source] Box<dyn std::error::Error + Send + Sync>),
}
