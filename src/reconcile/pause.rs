//! Steps of a run that are different while the parent is paused: the plan is made and not carried
//! out, and what it would do is said.

use super::{
    Context, Report,
    finalize::{Prepared, holds_ours},
    status,
};
use crate::{
    object::Object,
    operator::{ChildState, Condition, PAUSED_ANNOTATION},
    plan::{ChildId, Plan, Step},
};

/// The type of the condition of a paused parent.
pub(super) const CONDITION: &str = "Paused";

/// The reason of that condition, by which it is known as ours.
pub(super) const REASON: &str = "PausedByAnnotation";

/// What is not done because the parent is paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// What the handler wants; it could not say.
    Undecided,
    /// So many writes of children.
    Writes(usize),
    /// The end of a parent that is being deleted, or has left the selection.
    Finalizing,
}

/// Leaves the finalizers of a paused parent as they are; one that is to go waits.
pub(super) async fn prepare(context: &Context, parent: Object, report: &mut Report) -> Prepared {
    if !context.is_leaving(&parent) {
        report.paused = Some(Held::Undecided);
        return Prepared::Sync(parent);
    }
    if holds_ours(context, &parent) {
        report.paused = Some(Held::Finalizing);
        status::write(context, &parent, None, report).await;
    }
    Prepared::Done
}

/// Notes what a plan would do.
pub(super) fn hold(context: &Context, plan: &Plan, report: &mut Report) {
    report.unchanged = plan.memos.len();
    context.metrics().children_unchanged(context.name(), report.unchanged);
    report.memory.had_children |= report.unchanged > 0;
    for step in &plan.steps {
        let (id, what) = described(step);
        let why = format_args!("its {what} waits until the parent is no longer paused");
        report.wait_as(ChildState::Held, id, &why);
    }
    report.paused = Some(Held::Writes(plan.steps.len()));
}

fn described(step: &Step) -> (&ChildId, &'static str) {
    match step {
        Step::Create(write) => (&write.id, "creation"),
        Step::Update(write) => (&write.id, "change"),
        Step::Delete(deletion) => (&deletion.id, "deletion"),
    }
}

/// The condition of a paused parent.
pub(super) fn condition(held: &Held) -> Condition {
    let message = format!("the annotation {PAUSED_ANNOTATION} is \"true\": {held}");
    Condition::new(CONDITION, true, REASON, message)
}

/// Whether the parent still says that we paused it.
pub(super) fn is_said(parent: &Object) -> bool {
    let status = parent.field("status").unwrap_or_default();
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == CONDITION && condition["reason"] == REASON)
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Undecided => f.write_str("nothing is written"),
            Self::Writes(0) => f.write_str("nothing is written; nothing would be"),
            Self::Writes(1) => f.write_str("nothing is written; 1 write is pending"),
            Self::Writes(count) => write!(f, "nothing is written; {count} writes are pending"),
            Self::Finalizing => f.write_str("it is not finalized, and so it stays"),
        }
    }
}
