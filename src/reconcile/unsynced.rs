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

/// Tells what waits, if it is for other types than in the run before.
pub(super) fn tell(context: &Context, parent: &Object, report: &mut Report) {
    let types = awaited(context, parent, report);
    let what = (!types.is_empty()).then(|| events::hash(&types));
    if report.memory.troubles().last_unsynced == what {
        return;
    }
    report.memory.troubles_mut().last_unsynced = what;
    let Some((first, others)) = report.unsynced.split_first() else { return };
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

/// The types of which not all is known. A parent that may be old keeps all its children.
fn awaited(context: &Context, parent: &Object, report: &Report) -> BTreeSet<K8sType> {
    if !report.unsynced.is_empty() && context.may_be_old(parent) {
        return BTreeSet::from([parent.ty().clone()]);
    }
    report.unsynced.iter().map(|child| child.ty.clone()).collect()
}
