//! A generated file below `deploy`.

use crate::cli::header::flag;

/// How it is generated for the operators that were chosen, none for all.
pub(super) fn header(only: &[String]) -> String {
    let options = flag("only", only).map(|flag| format!(" {flag}")).unwrap_or_default();
    format!(
        "Generated from the declarations of the operators: change those, then run\n    \
         cargo run -- manifests{options}; cargo run -- manifests{options} --helm"
    )
}

/// A file below `deploy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Its path.
    pub(crate) path: String,
    /// Its content.
    pub(crate) text: String,
}
