//! Why an override is refused.

/// An override cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// The object or the override does not become JSON.
    #[error("cannot merge an override that cannot be serialized: {0}")]
    Unserializable(String),
    /// The handler keeps a path that is none.
    #[error(
        "`{0}` is not a path: write it as `.spec.selector` or `.spec.containers[name=\"shop\"].image`"
    )]
    InvalidPath(String),
    /// The override changes what the handler keeps.
    #[error(
        "the override changes `{path}`, which the operator sets: it has {overriding}, and the operator {own}. \
         Remove the field from the override"
    )]
    Conflict {
        /// Where.
        path: String,
        /// The value of the handler as JSON, or `nothing`; not that of a Secret.
        own: String,
        /// The value that the override would give it.
        overriding: String,
    },
    /// It has an object where the handler has a list, or similar.
    #[error("the override has {overriding} at `{path}`, where the operator has {own}")]
    OtherType {
        /// Where; `.` is the root.
        path: String,
        /// What the handler has there.
        own: &'static str,
        /// What the override has there.
        overriding: &'static str,
    },
    /// An item of a list that merges by key does not have the key.
    #[error(
        "an item of the override at `{path}` has no `{key}`, which identifies the items of this list"
    )]
    NoKey {
        /// The list.
        path: String,
        /// The key.
        key: &'static str,
    },
    /// A word that begins with `$` is not known here, or has another value.
    #[error(
        "the override has `{directive}` at `{path}`, which is not supported: use `$patch: delete`, \
         `$patch: replace` or `$retainKeys`"
    )]
    Directive {
        /// Where.
        path: String,
        /// The word, with its value if that is a text.
        directive: String,
    },
    /// It is nested deeper than any object of Kubernetes.
    #[error("the override is nested more than {0} levels deep")]
    TooDeep(usize),
}
