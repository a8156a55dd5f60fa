//! Deletions that wait because not all of a type is known, as after lists that failed or a restored
//! backup. Said once in an Event: nobody can tell how long that takes.

use std::collections::BTreeSet;

use super::{Context, Report, events};
use crate::{
    cluster::EventKind,
    object::{K8sType, Object},
};

/// The reason of the Event.
const REASON: &str = "DeletionWaits";

/// Tells what waits, if it is for other types than was told last.
pub(super) fn tell(context: &Context, parent: &Object, report: &mut Report) {
    let Some((first, others)) = report.unsynced.split_first() else {
        return forget(context, parent, report);
    };
    let types = awaited(context, parent, report);
    let what = Some(events::hash(&types));
    if report.memory.troubles().last_unsynced == what {
        return;
    }
    report.memory.troubles_mut().last_unsynced = what;
    let more =
        if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    let types: Vec<_> = types.iter().map(ToString::to_string).collect();
    let message = format!(
        "{first}{more}: deletion waits until all objects of {} are known; /readyz says why they are \
         not",
        types.join(", ")
    );
    events::tell(context, parent, (EventKind::Warning, REASON, message), report);
}

/// What was told is over when all is known. A list of earlier may hide for a while what is to go: that
/// it is back is no news.
fn forget(context: &Context, parent: &Object, report: &mut Report) {
    let is_over = context.unsynced(parent).is_empty();
    if let Some(troubles) = report.memory.troubles_if(false).filter(|_| is_over) {
        troubles.last_unsynced = None;
    }
}

/// The types of which not all is known. A parent that may be old keeps all its children.
fn awaited(context: &Context, parent: &Object, report: &Report) -> BTreeSet<K8sType> {
    if context.may_be_old(parent) {
        return BTreeSet::from([parent.ty().clone()]);
    }
    report.unsynced.iter().map(|child| child.ty.clone()).collect()
}
