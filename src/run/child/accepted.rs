//! What an accepted write of a child means.

use super::task::{ChildNext, done};
use crate::{
    history::Verb,
    journal::{Fact, Left, Written},
    object::Object,
    plan::{Settled, Write},
    run::{
        effect::Cache,
        module_view::View,
        turn::{Turn, child_failed},
    },
};

pub(super) fn written(
    write: &Write,
    verb: Verb,
    reply: Object,
    view: &View<'_>,
) -> Turn<ChildNext> {
    let mut rewrite = view.rewrite_of(&write.id).cloned();
    // The rewrite covers only what was sent, not the fields that other managers kept.
    if let Some(rewrite) = rewrite.as_mut()
        && verb == Verb::Updated
        && !write.paths.is_empty()
    {
        rewrite.paths.clone_from(&write.paths);
    }
    let left = Left::As(Settled::new(write, &reply, view.settings.name()));
    let (child, paths) = (write.id.clone(), write.paths.clone());
    let turn = done().note(Fact::Written(Written { child, verb, paths, rewrite, left }));
    if view.settings.is_watched(&reply) {
        turn.cache([Cache::Wrote(reply)])
    } else {
        // The cache would never receive an update of it.
        turn.note(child_failed(&write.id, view.settings.unlabelled()))
    }
}

/// The write changed nothing: it is not repeated.
pub(super) fn wrote_nothing(write: &Write, reply: &Object, view: &View<'_>) -> Turn<ChildNext> {
    let settled = Settled::new(write, reply, view.settings.name());
    done().note(Fact::WroteNothing { paths: write.paths.clone(), settled })
}
