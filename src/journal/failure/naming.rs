//! Names of children that are made from that of their parent.

/// Whether a name is that of the parent, or begins with it.
pub(crate) fn is_made_of(name: &str, parent: &str) -> bool {
    let rest = name.strip_prefix(parent);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
}
