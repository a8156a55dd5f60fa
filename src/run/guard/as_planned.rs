//! Compares the live parent with the planned one before a missing child is created: the parent may be
//! terminating in the foreground, or was paused before its child was deleted. The watch of the children can
//! be ahead of that of the parent.

use crate::{
    journal::{End, Fact},
    object::Object,
    operator::is_paused,
    run::{effect::Cache, module_view::View, turn::Turn},
};

/// Whether the live parent is still the planned one.
pub(in crate::run) fn judge(view: &View<'_>, live: Option<Object>) -> Turn<bool> {
    let Some(live) = live else { return Turn::new(false).note(Fact::Parent(End::Gone)) };
    let settings = view.settings;
    let stays_or_leaves = settings.is_leaving(view.parent) == settings.is_leaving(&live)
        && settings.holds_ours(view.parent) == settings.holds_ours(&live);
    if is_as_planned_for(view.parent, &live) && stays_or_leaves && !is_paused(&live, view.now.wall)
    {
        return Turn::new(true);
    }
    Turn::new(false).note(Fact::Parent(End::Outdated)).cache([Cache::Saw(live)])
}

fn is_as_planned_for(parent: &Object, live: &Object) -> bool {
    let is_same =
        live.generation() == parent.generation() && (live.generation().is_some() || live == parent);
    live.uid() == parent.uid() && live.is_deleting() == parent.is_deleting() && is_same
}
