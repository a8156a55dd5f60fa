//! Step 5: saying what came of it, in the parent's status and in Events.

mod patch;

use std::time::Duration;

use serde_json::Value;

use self::patch::{Patched, patch};
use super::{
    Context, Failure, Report, child_status, conditions, events, flapping, undeclared,
    veil::{self, Veil},
};
use crate::{
    cluster::{ApiError, ErrorClass, EventKind},
    history::RunStep,
    object::Object,
    operator::{ChildStatus, Condition},
    plan::ChildrenField,
};

/// What a status is to say.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// What the handler returned.
    pub(super) handler: Option<&'a Value>,
    pub(super) conditions: &'a [Condition],
    pub(super) children: ChildrenField<'a>,
    /// Whether it is known that no deletions are held.
    pub(super) holds_none: bool,
}

/// Writes the status if it differs, and a Warning Event about a new failure.
pub(super) async fn write(
    context: &Context,
    parent: &Object,
    status: Option<Value>,
    report: &mut Report,
) {
    veil::draw(context, parent, report).await;
    let said = conditions::said(report);
    announce(context, parent, report);
    let listed = child_status::listed(context, report);
    let children = children(context, listed.as_deref());
    let (handler, holds_none) = (status.as_ref(), report.holds_no_deletions());
    let wanted = Wanted { handler, conditions: &said, children, holds_none };
    let wish = flapping::look_at_status(context, parent, wanted, report).await;
    match patch(context, parent, wanted, report).await {
        Ok(Patched::Written { reply, paths, undeclared }) => {
            report.wrote_status = true;
            let is_all = handler.is_some() || report.failure().is_none();
            undeclared::tell(context, parent, (&undeclared, is_all), report);
            flapping::note_status(context, wish, Some((&reply, &paths)), report);
        }
        Ok(Patched::Unchanged) => flapping::note_status(context, wish, None, report),
        Ok(Patched::NotYet) => report.status_is_due = true,
        Err(error) => status_failed(context, parent, error, report).await,
    }
    report.lap(RunStep::Status);
}

/// The failure of the status is one of the run, unless that has failed already: then the retry
/// must come even if only a change of the parent could mend the run.
async fn status_failed(context: &Context, parent: &Object, error: ApiError, report: &mut Report) {
    let has_failed = report.failure().is_some();
    let is_refused = error.class() == ErrorClass::Permanent;
    report.step_failed(&"the status", error);
    report.close();
    veil::draw(context, parent, report).await;
    if !has_failed {
        announce(context, parent, report);
    }
    let is_said = is_refused && say_conditions(context, parent, report).await;
    report.status_is_due = has_failed && !is_said;
    if has_failed && is_refused {
        tell_of_refusal(context, parent, is_said, report);
    }
}

/// Writes no more than the conditions; returns whether the parent shows them.
async fn say_conditions(context: &Context, parent: &Object, report: &mut Report) -> bool {
    let said = conditions::said(report);
    let conditions = only_conditions(context, &said, report);
    let patched = patch(context, parent, conditions, report).await;
    if let Ok(Patched::Written { reply, .. }) = &patched {
        report.wrote_status = true;
        // It was we who changed it, and what the handler wanted is not there.
        report.memory.status = None;
        report.memory.parent = Some(reply.resource_version().clone());
    }
    matches!(patched, Ok(Patched::Written { .. } | Patched::Unchanged))
}

/// The Event of the failure says nothing of a status that is refused.
fn tell_of_refusal(context: &Context, parent: &Object, is_said: bool, report: &mut Report) {
    let Some(failure) = report.child_failures.last() else { return };
    let what = if context.config().shares_status() {
        format!("the status that its handler returns is refused: {}", failure.said)
    } else if is_said {
        format!("of its status no more than the conditions is written: {}", failure.said)
    } else {
        format!(
            "its status cannot say that it failed: {}; no field of the status may be required that \
             a failed run does not set",
            failure.said
        )
    };
    tracing::warn!(operator = %context.name(), parent = %parent.key(), "{what}");
    events::tell(context, parent, (EventKind::Warning, "StatusRefused", what), report);
}

/// All else stays as it is.
fn only_conditions<'a>(
    context: &Context,
    conditions: &'a [Condition],
    report: &Report,
) -> Wanted<'a> {
    let (children, holds_none) = (children(context, None), report.holds_no_deletions());
    Wanted { handler: None, conditions, children, holds_none }
}

fn children<'a>(context: &Context, listed: Option<&'a [ChildStatus]>) -> ChildrenField<'a> {
    match listed {
        _ if !context.config().child_status => ChildrenField::Off,
        Some(listed) => ChildrenField::Listed(listed),
        None => ChildrenField::Kept,
    }
}

/// Shows that a handler has not returned, while the run is still waiting for it.
pub(super) async fn show_overdue(
    context: &Context,
    parent: &Object,
    deadline: Duration,
    report: &mut Report,
) {
    let failure = Failure::Overdue(deadline);
    context.show(parent, &failure);
    let said = conditions::of_failure(&failure, report);
    events::failed(context, parent, &failure, report);
    let conditions = only_conditions(context, &said, report);
    if let Err(error) = patch(context, parent, conditions, report).await {
        let error = Veil::over(context, parent).await.error(&error);
        tracing::warn!(operator = %context.name(), parent = %parent.key(), error,
            "cannot say in the status that the handler is overdue");
    }
}

fn announce(context: &Context, parent: &Object, report: &mut Report) {
    flapping::announce(context, parent, report);
    if let Some(failure) = report.take_failure() {
        events::failed(context, parent, &failure, report);
        report.fail(failure);
    }
}
