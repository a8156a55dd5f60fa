//! A live look at children that take their time to go: what a watch does not tell is found out all
//! the same.

use std::time::Instant;

use super::{Context, Report};
use crate::{
    cluster::ApiError,
    object::Object,
    plan::{ChildId, Waiting},
};

/// Looks at those of the children that are waited for which should have gone by now. What is found
/// is told to all: the parent itself is to run again.
pub(super) async fn look(context: &Context, waiting: &[Waiting], report: &mut Report) {
    let ending = waiting.iter().filter(|waiting| waiting.why.is_deleting());
    let ending = ending.filter_map(|waiting| context.cached(&waiting.id.ty, &waiting.id.key));
    let ending: Vec<_> = ending.collect();
    let Some(troubles) = report.memory.troubles_if(!ending.is_empty()) else { return };
    for child in troubles.lingering.overdue(ending, Instant::now()) {
        if report.is_throttled() {
            return;
        }
        if let Err(error) = look_at(context, &child).await {
            report.child_failed(&ChildId::of(&child), error);
        }
    }
}

/// How many children that are desired are to be there again soon.
pub(super) fn expected(report: &Report) -> usize {
    let (lingering, now) = (&report.memory.troubles().lingering, Instant::now());
    report.replacing.iter().filter(|uid| !lingering.is_stuck(uid, now)).count()
}

async fn look_at(context: &Context, child: &Object) -> Result<(), ApiError> {
    let live = context.cluster().read(child.ty(), child.key()).await?;
    if live.as_ref().is_none_or(|live| live.uid() != child.uid()) {
        context.learn_absent(child.ty(), child.key(), child.uid());
    }
    if let Some(live) = live {
        context.learn_live(live);
    }
    Ok(())
}
