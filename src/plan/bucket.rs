//! The label of the parent's bucket on children, where several processes share the parents.
//!
//! A child that only lacks the label, or has it from before, is not written for that, unless the reconcile is there to set it:
//! otherwise a change of the mode would write all children at once. A child that is written anyway gets it.

use super::{Write, ownership::set_label, steps::hash_of};
use crate::{
    election::Bucket,
    object::Object,
    operator::{BUCKET_LABEL, OperatorConfig},
};

/// The value of the label; none if the process works for all parents.
fn of(config: &OperatorConfig, parent: &Object) -> Option<String> {
    config.is_sharded.then(|| Bucket::of(parent.uid()).to_string())
}

/// A write that sets the label, or removes it.
pub(super) fn labelled(write: Write, config: &OperatorConfig, parent: &Object) -> Write {
    with_label(write, of(config, parent))
}

/// Whether a child has the label as it is to have it.
pub(crate) fn is_labelled(live: &Object, config: &OperatorConfig, parent: &Object) -> bool {
    live.label(BUCKET_LABEL).as_deref() == of(config, parent).as_deref()
}

/// A write that leaves the label of a child as it is.
pub(super) fn as_it_is(write: Write, live: &Object) -> Write {
    with_label(write, live.label(BUCKET_LABEL).map(std::borrow::Cow::into_owned))
}

fn with_label(mut write: Write, value: Option<String>) -> Write {
    // Another label is another desired state.
    write.desired_hash ^= value.as_ref().map_or(0, hash_of);
    set_label(&mut write.body["metadata"], BUCKET_LABEL, value.map(Into::into));
    write
}
