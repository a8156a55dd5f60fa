//! Steps of a run that are different while the parent or its operator is paused: the plan is made and
//! not carried out, and what it would do is said. And the annotation by which a parent is paused.
//!
//! | paused | by | said of a parent of which nothing is to be written | until |
//! |---|---|---|---|
//! | a parent | its annotation | that it is paused | the annotation goes |
//! | an operator | a command | nothing: else ten thousand statuses changed | another one, or the process ends |

use std::{fmt, sync::atomic::Ordering};

use serde_json::{Value, json};

use super::{
    Context, Report,
    apply::take_in,
    conditions::reason_shown,
    events,
    finalize::{self, Prepared},
    status,
};
use crate::{
    cluster::{ApiError, EventKind},
    object::{Object, ObjectKey, Uid},
    operator::{ChildState, Condition, PAUSED_ANNOTATION, is_paused, misunderstood_pause},
    plan::{ChildId, Interlock, Plan, Step, Waiting, WaitingReason},
};

/// The type of the condition of a paused parent.
pub(super) const CONDITION: &str = "Paused";

/// What a pause keeps a run from doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// What is paused.
    pub by: PausedBy,
    /// What is not done.
    pub held: Held,
}

/// What is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausedBy {
    /// The parent, by its annotation.
    Annotation,
    /// The operator, by a command.
    Operator,
}

/// What is not done because of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// What the handler wants; it could not say.
    Undecided,
    /// So many writes of children.
    Writes(usize),
    /// A finalizer that is to be put on the parent, or taken off.
    Finalizer,
    /// The end of a parent that is being deleted, or has left the selection.
    Finalizing,
}

impl Context {
    /// Pauses the operator: a request that is being sent is finished, and then only statuses are
    /// written. Whether it was not paused before.
    pub fn pause(&self) -> bool {
        !self.paused().swap(true, Ordering::AcqRel)
    }

    /// Ends that; to run those who owe a run is up to the caller. Whether it was paused before.
    pub fn resume(&self) -> bool {
        self.paused().swap(false, Ordering::AcqRel)
    }

    /// Whether the operator is paused.
    pub(super) fn is_paused(&self) -> bool {
        self.paused().load(Ordering::Acquire)
    }

    /// What pauses a parent, if anything does.
    pub(super) fn paused_by(&self, parent: &Object) -> Option<PausedBy> {
        let by_operator = self.is_paused().then_some(PausedBy::Operator);
        is_paused(parent).then_some(PausedBy::Annotation).or(by_operator)
    }

    /// Puts the annotation that pauses it on exactly this parent, or takes it off.
    ///
    /// # Errors
    /// What the server says, for example that we may not, or that there is another of that name.
    pub async fn annotate_paused(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        is_paused: bool,
    ) -> Result<(), ApiError> {
        let _under_way = self.orders.read().await;
        let value = if is_paused { json!("true") } else { Value::Null };
        let annotations = json!({PAUSED_ANNOTATION: value});
        let body = json!({"metadata": {"uid": uid, "annotations": annotations}});
        let (ty, manager) = (&self.config().parent, self.name().as_str());
        let reply = self.cluster().patch_object(ty, key, manager, &body).await?;
        self.learn_live(reply);
        Ok(())
    }
}

/// Leaves the finalizers of a paused parent as they are; one that is to go waits.
pub(super) async fn prepare(
    context: &Context,
    parent: Object,
    by: PausedBy,
    report: &mut Report,
) -> Prepared {
    report.began_paused = Some(by);
    if context.is_leaving(&parent) {
        if finalize::holds_ours(context, &parent) {
            stay(context, &parent, by, report).await;
        }
        return Prepared::Done;
    }
    let held = match by {
        PausedBy::Annotation => Some(Held::Undecided),
        PausedBy::Operator => finalize::is_due(context, &parent).then_some(Held::Finalizer),
    };
    if held == Some(Held::Finalizer) {
        report.wait_for_the_end(by, "finalizer");
    }
    report.paused = held.map(|held| Pause { by, held });
    Prepared::Sync(parent)
}

/// Does not finalize a parent.
pub(super) async fn stay(context: &Context, parent: &Object, by: PausedBy, report: &mut Report) {
    report.wait_for_the_end(by, if parent.is_deleting() { "deletion" } else { "release" });
    report.hold(by, Held::Finalizing);
    status::write(context, parent, None, report).await;
}

/// What keeps a plan from being carried out. A pause that began before the run did holds until its
/// end: finalizers were left as they are.
pub(super) fn keeps(
    context: &Context,
    parent: &Object,
    plan: &Plan,
    report: &Report,
) -> Option<PausedBy> {
    let by = report.began_paused.or_else(|| context.paused_by_now(parent))?;
    (by == PausedBy::Annotation || !plan.steps.is_empty()).then_some(by)
}

/// Notes what a plan would do, and how the children stand of which it does nothing.
pub(super) async fn hold(context: &Context, plan: Plan, by: PausedBy, report: &mut Report) {
    let (existing, desired) = (plan.existing(), plan.desired());
    let (steps, waiting) = take_in(context, plan, report).await;
    report.memory.had_children |= existing > 0;
    // The end of the pause judges what is to go; that nothing is can be said at once.
    let may_go = |waiting: &Waiting| waiting.why == WaitingReason::TypeNotSynced;
    if steps.iter().all(|step| step.final_deletion().is_none()) && !waiting.iter().any(may_go) {
        report.memory.interlock = Some(Interlock::default());
    }
    report.remember_foreign(&desired);
    report.hold(by, Held::Writes(0));
    report.held.extend(report.memory.memos.contested().map(ToString::to_string));
    report.tell_altered();
    for step in &steps {
        hold_step(step, by, report);
    }
}

/// Notes what a step would do.
pub(super) fn hold_step(step: &Step, by: PausedBy, report: &mut Report) {
    let (id, what) = described(step);
    let why = format_args!("its {what} waits until the {} is no longer paused", by.name());
    report.wait_as(ChildState::Held, id, &why);
    let held = match report.paused {
        Some(Pause { held: Held::Writes(before), .. }) => before + 1,
        Some(_) | None => 1,
    };
    report.hold(by, Held::Writes(held));
}

fn described(step: &Step) -> (&ChildId, &'static str) {
    match step {
        Step::Create(write) => (&write.id, "creation"),
        Step::Update(write) => (&write.id, "change"),
        Step::Delete(deletion) => (&deletion.id, "deletion"),
    }
}

/// The condition of a paused parent.
pub(super) fn condition(Pause { by, held }: &Pause) -> Condition {
    let message = match by {
        PausedBy::Annotation => format!("the annotation {PAUSED_ANNOTATION} pauses it: {held}"),
        PausedBy::Operator => format!("a person has paused the operator: {held}"),
    };
    Condition::new(CONDITION, true, by.reason(), message)
}

/// By what the parent still says that it is paused, as far as we said so.
pub(super) fn said(parent: &Object) -> Option<PausedBy> {
    let reason = reason_shown(parent, CONDITION)?;
    [PausedBy::Annotation, PausedBy::Operator].into_iter().find(|by| by.reason() == reason)
}

/// Tells of a value of the annotation that looks as if it paused, and does not: once for each.
pub(super) fn tell_of_value(context: &Context, parent: &Object, report: &mut Report) {
    let value = misunderstood_pause(parent).map(String::into_boxed_str);
    if value == report.memory.troubles().told_pause_value {
        return;
    }
    report.memory.troubles_mut().told_pause_value.clone_from(&value);
    let Some(value) = value else { return };
    let message = format!(
        "the annotation {PAUSED_ANNOTATION} is {value:?}, which pauses nothing: only \"true\" does, in \
         whatever case"
    );
    tracing::warn!(operator = %context.name(), parent = %parent.key(), "{message}");
    events::tell(context, parent, (EventKind::Warning, "NotPaused", message), report);
}

/// Tells that a pause has begun to keep something from the parent, or is over: once, also when the
/// process was another one, and only where the operator tells what is no trouble.
pub(super) fn tell(context: &Context, parent: &Object, report: &mut Report) {
    if !context.config().normal_events {
        return;
    }
    let told = report.memory.told_pause.unwrap_or_else(|| said(parent));
    let is_over = report.began_paused.is_none() && context.paused_by(parent).is_none();
    let now = match report.paused {
        Some(pause) => Some(pause.by),
        None if is_over => None,
        None => told,
    };
    report.memory.told_pause = Some(now);
    let event = match now {
        _ if now == told => return,
        Some(by) => ("Paused", by.announcement()),
        None => ("Resumed", "it is no longer paused".to_owned()),
    };
    events::tell(context, parent, (EventKind::Normal, event.0, event.1), report);
}

impl Report {
    fn hold(&mut self, by: PausedBy, held: Held) {
        self.paused = Some(Pause { by, held });
    }

    /// Something about the parent itself is not done: no child says what it waits for.
    fn wait_for_the_end(&mut self, by: PausedBy, what: &str) {
        self.waiting.push(format!("its {what} waits until the {} is no longer paused", by.name()));
    }
}

impl PausedBy {
    /// The reason of the condition, by which it is known as ours.
    fn reason(self) -> &'static str {
        match self {
            Self::Annotation => "PausedByAnnotation",
            Self::Operator => "OperatorPaused",
        }
    }

    fn announcement(self) -> String {
        match self {
            Self::Annotation => {
                format!("nothing is written while the annotation {PAUSED_ANNOTATION} pauses it")
            }
            Self::Operator => {
                "a person has paused the operator: nothing is written until it is resumed"
                    .to_owned()
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Annotation => "parent",
            Self::Operator => "operator",
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecided => f.write_str("nothing is written"),
            Self::Writes(0) => f.write_str("nothing is written; nothing would be"),
            Self::Writes(1) => f.write_str("nothing is written; 1 write is pending"),
            Self::Writes(count) => write!(f, "nothing is written; {count} writes are pending"),
            Self::Finalizer => {
                f.write_str("its finalizer is left as it is, and nothing is written")
            }
            Self::Finalizing => f.write_str("it is not finalized, and so it stays"),
        }
    }
}
