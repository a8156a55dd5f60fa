//! A generated file below `deploy`.

use crate::manifest::flag;

/// How it is generated for the operators that were chosen, none for all.
pub(super) fn header(only: &[String]) -> String {
    let options = flag("only", only).map(|flag| format!(" {flag}")).unwrap_or_default();
    format!(
        "Generated from operators/manifests: change that, then run\n    \
         cargo run -- manifests{options}; cargo run -- manifests{options} --helm"
    )
}

/// A file below `deploy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its content.
    pub text: String,
}
