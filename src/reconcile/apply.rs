//! Step 4: carrying out a plan. A failure with one child does not keep the others from theirs.

use std::collections::VecDeque;

use futures::future::join_all;

use super::{
    Context, End, Report, contested, delete, flapping,
    halt::{self, Halt},
    immutable, interlock, lingering, on_delete, unsynced, write,
};
use crate::{
    cluster::ApiError,
    object::Object,
    plan::{Deletion, Plan, Step, Waiting, WaitingReason},
};

/// So many children of one parent are written at once.
const MAX_AT_ONCE: usize = 8;

/// Carries out a plan, step by step.
pub(super) async fn apply(context: &Context, parent: &Object, mut plan: Plan, report: &mut Report) {
    let existing = plan.existing();
    immutable::forget_undesired(&plan, report);
    let desired = report.knows_foreign().then(|| plan.desired());
    report.replacing = std::mem::take(&mut plan.replacing);
    let (steps, waiting) = take_in(context, plan, report).await;
    let is_partial = waiting.iter().any(|waiting| waiting.why == WaitingReason::TypeNotSynced);
    lingering::look(context, &waiting, report).await;
    report.put_off = lingering::expected(report);
    match may_create(context, parent, &steps, report).await {
        Ok(true) => {}
        Ok(false) => return report.close(),
        Err(error) => {
            report.step_failed(&"the parent", error);
            return report.close();
        }
    }
    let (mut steps, taken) =
        interlock::admit(context, parent, steps, (existing, is_partial), report);
    // Or a child that the server never takes would keep those behind it waiting for ever.
    steps.sort_by_key(|step| report.memory.troubles().throttled.contains(step.id()));
    let deletions = write_all(context, parent, steps.into(), report).await;
    delete_all(context, parent, deletions, report).await;
    let is_throttled = report.is_throttled();
    if let Some(troubles) = report.memory.troubles_if(false).filter(|_| !is_throttled) {
        troubles.throttled.clear();
    }
    interlock::settle(context, taken, report);
    report.memory.had_children |= existing > 0 || !report.writes.is_empty();
    contested::tell(context, parent, report);
    unsynced::tell(context, parent, report);
    report.tell_altered();
    report.remember_foreign(&desired.unwrap_or_default());
    report.close();
}

/// Notes how the children stand of which a plan does nothing, whether or not it is carried out. What is
/// to be done comes back, and what is waited for.
pub(super) async fn take_in(
    context: &Context,
    plan: Plan,
    report: &mut Report,
) -> (Vec<Step>, Vec<Waiting>) {
    let Plan { steps, memos, mut waiting, doubtful, replacing: _ } = plan;
    report.unchanged = memos.len();
    report.memory.memos = memos;
    on_delete::settle(context, doubtful, &mut waiting, report).await;
    context.metrics().children_unchanged(context.name(), report.unchanged);
    for Waiting { id, why } in &waiting {
        report.wait_for(id, why);
    }
    (steps, waiting)
}

/// Writes, in the order of the steps; what is to be deleted comes back.
///
/// Neighbours of one type are sent together, ever more at once while all goes well: the first one
/// tells whether the server has time. But only as many as places for runs are free, so that one parent
/// with many children asks no more of the server than many with one.
async fn write_all(
    context: &Context,
    parent: &Object,
    mut steps: VecDeque<Step>,
    report: &mut Report,
) -> Vec<Deletion> {
    let (mut deletions, mut at_once) = (Vec::new(), 1);
    while !steps.is_empty() {
        if let Some(halt) = Halt::now(context, parent, report) {
            for step in &steps {
                halt.hold(step, report);
            }
            break;
        }
        let together = neighbours(&mut steps, at_once.min(1 + context.gate().spare()));
        for step in &together {
            flapping::look(context, step.id(), report).await;
        }
        let begun = together.into_iter().map(|step| {
            let known = report.memory.troubles().foreign.get(step.id()).cloned();
            write::begin(context, parent, step, known)
        });
        let begun = join_all(begun).await;
        let failures = report.child_failures.len();
        for begun in begun {
            deletions.extend(write::finish(context, parent, begun, report).await);
        }
        let is_well = report.child_failures.len() == failures;
        at_once = if is_well { (at_once * 2).min(MAX_AT_ONCE) } else { 1 };
    }
    deletions
}

/// Takes the next step, and those after it of the same type, up to so many.
fn neighbours(steps: &mut VecDeque<Step>, most: usize) -> Vec<Step> {
    let ty = steps.front().map(|step| step.id().ty.clone());
    let is_next = |step: &&Step| Some(&step.id().ty) == ty.as_ref();
    let count = steps.iter().take(most).take_while(is_next).count();
    steps.drain(..count).collect()
}

/// Deletes, unless a child that is desired was not written: it may be what replaces one which is to go.
/// One that is to be created anew is replaced by itself, and waits only while the server may be out of
/// order. A deletion that is refused keeps no other from its own: it may be refused for ever.
async fn delete_all(
    context: &Context,
    parent: &Object,
    deletions: Vec<Deletion>,
    report: &mut Report,
) {
    let (is_incomplete, is_troubled) = (report.is_incomplete(), report.has_passing_failures());
    for deletion in deletions {
        if report.end != End::Alive {
            return;
        }
        if delete::is_held(context, parent, &deletion, report) {
            continue;
        }
        if context.unsynced(parent).contains(&deletion.id.ty) {
            // Since it was planned, or because of what a write was answered.
            report.wait_for(&deletion.id, &WaitingReason::TypeNotSynced);
        } else if is_troubled || (is_incomplete && deletion.instead_of().is_none()) {
            report.wait(&deletion.id, &"its deletion waits until every write is accepted");
            report.behind_writes += 1;
        } else if report.is_throttled() {
            report.hold_back(&deletion.id);
        } else {
            delete::delete(context, parent, deletion, report).await;
        }
    }
}

/// Whether a child that is to be created may be: one that there was before may be missing because
/// its parent goes.
async fn may_create(
    context: &Context,
    parent: &Object,
    steps: &[Step],
    report: &mut Report,
) -> Result<bool, ApiError> {
    let creates = steps.iter().any(|step| matches!(step, Step::Create(_)));
    let had_children = report.memory.had_children || parent.field("status").is_some();
    if !creates || !had_children {
        return Ok(true);
    }
    halt::is_as_planned(context, parent, report).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers},
        plan::Deletion,
    };

    fn step(kind: &str, name: &str) -> Step {
        let ty = K8sType::cluster_scoped("v1", kind, &format!("{kind}s").to_lowercase());
        let value = json!({"metadata": {"name": name, "uid": name, "resourceVersion": "1"}});
        let object = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        Step::Delete(Deletion::undesired(&object))
    }

    #[test]
    fn what_goes_together_is_of_one_type_and_in_the_order_of_the_handler() {
        let named = [("A", "1"), ("A", "2"), ("A", "3"), ("B", "4"), ("A", "5")];
        for (most, expected) in [
            (1, vec!["1", "2", "3", "4", "5"]),
            (2, vec!["12", "3", "4", "5"]),
            (8, vec!["123", "4", "5"]),
        ] {
            let mut steps: VecDeque<_> =
                named.iter().map(|(kind, name)| step(kind, name)).collect();
            let mut groups = Vec::new();
            while !steps.is_empty() {
                let group = neighbours(&mut steps, most);
                groups.push(group.iter().map(|step| &*step.id().key.name).collect::<String>());
            }
            assert_eq!(groups, expected);
        }
    }
}
