//! The traces of an earlier program on the objects of an operator.

/// The field managers and finalizers of an earlier program, to be taken over. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predecessor {
    /// The field managers by which it wrote children other than by server-side apply. Their fields
    /// of a child become ours when the child is first updated, and fields that are not desired are
    /// removed. Without this they would stay for ever.
    pub field_managers: Vec<String>,
    /// The finalizers that it added to parents. They count as ours: a parent that is deleted is
    /// finalized first, and then they are removed. Without this such a parent would never be
    /// deleted.
    pub finalizers: Vec<String>,
}
