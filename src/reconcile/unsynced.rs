//! Deletions that wait because not all of a type is known, as after lists that failed or a restored
//! backup. Said once in an Event: nobody can tell how long that takes.

use std::collections::BTreeSet;

use super::{Context, Report, events, memory::Troubles};
use crate::{
    cluster::EventKind,
    object::{K8sType, Object},
};

/// The reason of the Event.
const REASON: &str = "DeletionWaits";

/// Tells what waits, if it is for a type that was not told.
pub(super) fn tell(context: &Context, parent: &Object, report: &mut Report) {
    forget(context, parent, report);
    let Some((first, others)) = report.unsynced.split_first() else { return };
    let types = awaited(context, parent, report);
    if types.is_subset(&report.memory.troubles().told_unsynced) {
        return;
    }
    let more =
        if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    let named: Vec<_> = types.iter().map(ToString::to_string).collect();
    let message = format!(
        "{first}{more}: deletion waits until all objects of {} are known; /readyz says why they are \
         not",
        named.join(", ")
    );
    report.memory.troubles_mut().told_unsynced.extend(types);
    events::tell(context, parent, (EventKind::Warning, REASON, message), report);
}

/// What was told is over when all of that type is known. A list of earlier may hide for a while what is
/// to go: that it is back is no news.
fn forget(context: &Context, parent: &Object, report: &mut Report) {
    let is_one = |troubles: &&mut Troubles| !troubles.told_unsynced.is_empty();
    if let Some(troubles) = report.memory.troubles_if(false).filter(is_one) {
        let unknown = unknown(context, parent);
        troubles.told_unsynced.retain(|ty| unknown.contains(ty));
    }
}

/// The types of which not all is known and something is to go.
fn awaited(context: &Context, parent: &Object, report: &Report) -> BTreeSet<K8sType> {
    let mut types = unknown(context, parent);
    types.retain(|ty| *ty == *parent.ty() || report.unsynced.iter().any(|child| child.ty == *ty));
    types
}

/// The types of which not all is known. A parent that may be old keeps all its children.
fn unknown(context: &Context, parent: &Object) -> BTreeSet<K8sType> {
    if context.may_be_old(parent) {
        return BTreeSet::from([parent.ty().clone()]);
    }
    context.unsynced(parent)
}
