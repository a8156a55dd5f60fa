//! What an earlier program left on the objects that an operator answers for now.

/// What an earlier program left behind, to be taken over. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predecessor {
    /// The field managers by which it wrote children other than by server-side apply. What they
    /// own of a child becomes ours when the child is first updated, and what of that is not
    /// desired is removed. Without this it would stay for ever.
    pub field_managers: Vec<String>,
    /// The finalizers that it put on parents. They count as ours: a parent that goes is finalized
    /// first, and they are taken off. Without this such a parent would never go.
    pub finalizers: Vec<String>,
}
