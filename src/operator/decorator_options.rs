//! The options that only a decorator has.

/// What a decorator may do to its parents beside labels and annotations. Default nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "options, each on its own")]
pub(crate) struct DecoratorOptions {
    /// Writes the status fields that the handler returns.
    pub(crate) status_fields: bool,
    /// Writes conditions of its own.
    pub(crate) conditions: bool,
    /// Takes what other field managers own.
    pub(crate) force: bool,
    /// Holds replicas.
    pub(crate) held_replicas: bool,
}
