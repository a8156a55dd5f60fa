//! Which rules for schemas are enforced.

/// Which rules apply. Those that a definition broke before are not enforced when it changes.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub(crate) struct Strictness {
    /// Types must exist.
    pub(crate) known_types: bool,
    /// Elements of a set must be atomic.
    pub(crate) atomic_sets: bool,
    /// Keys must be given, and elements must not be `null`.
    pub(crate) given_keys: bool,
    /// Defaults must not have undeclared fields.
    pub(crate) pruned_defaults: bool,
}

impl Default for Strictness {
    fn default() -> Self {
        Self { known_types: true, atomic_sets: true, given_keys: true, pruned_defaults: true }
    }
}
