//! The containers of a pod, and what they refer to.

use std::collections::BTreeSet;

use super::super::{field::Field, volume::Volumes};

/// What containers refer to.
pub(super) struct Context<'a> {
    pub(super) spec: Field<'a>,
    pub(super) volumes: Volumes<'a>,
    pub(super) claims: BTreeSet<&'a str>,
}

/// The containers of a pod, init containers first.
pub(super) fn each<'a>(spec: &Field<'a>) -> Vec<Field<'a>> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.iter().flat_map(|list| spec.child(list).items()).collect()
}
