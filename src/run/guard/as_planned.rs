//! Whether the parent is, live, as the plan believes. Asked before a child is created that may be missing
//! because the parent is being deleted in the foreground, or because somebody paused the parent and then
//! deleted the child: the watch of the children can be faster than that of the parent.

use crate::{
    journal::{End, Fact},
    object::Object,
    operator::is_paused,
    run::{effect::Cache, turn::Turn, view::View},
};

/// Whether the parent is as planned for, from what was read of it.
pub(in crate::run) fn judge(view: &View<'_>, live: Option<Object>) -> Turn<bool> {
    let Some(live) = live else { return Turn::new(false).note(Fact::Parent(End::Gone)) };
    if is_as_planned_for(view.parent, &live) && view.settings.selects(&live) && !is_paused(&live) {
        return Turn::new(true);
    }
    Turn::new(false).note(Fact::Parent(End::Outdated)).cache([Cache::Saw(live)])
}

fn is_as_planned_for(parent: &Object, live: &Object) -> bool {
    let is_same =
        live.generation() == parent.generation() && (live.generation().is_some() || live == parent);
    live.uid() == parent.uid() && !live.is_deleting() && is_same
}
