//! The labels by which children are marked, beside those whose names an operator chooses. Nearly all objects lack them.

/// The label of a child whose value is the number of its parent's bucket, where several processes share the parents of their
/// operators: see [`Sharding`](crate::election::Sharding).
pub const BUCKET_LABEL: &str = "operetta.dev/bucket";

/// The label of children that stay when their parent is deleted, with the value `true`: see
/// [`ChildConfig::orphan_on_delete`](crate::operator::ChildConfig::orphan_on_delete).
pub const ORPHAN_LABEL: &str = "operetta.dev/orphan-on-delete";
