//! The names of the group of roles and bindings.

/// The group of roles and bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";
/// Their version.
pub(crate) const VERSION: &str = "v1";
