//! Step 5: saying what came of it, in the parent's status and in Events.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::{Duration, SystemTime},
};

use serde_json::Value;

use super::{
    Context, Failure, Report, child_status, conditions, events, flapping, undeclared,
    veil::{self, Veil},
};
use crate::{
    cluster::{ApiError, ErrorClass, EventKind},
    history::RunStep,
    object::Object,
    operator::{ChildStatus, Condition},
    plan::{ChildrenField, StatusInput, is_list_outdated, patched_paths, status_patch},
};

const TRIES: usize = 3;

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

/// What came of writing a status.
enum Patched {
    Written {
        reply: Object,
        paths: Vec<String>,
        /// What is not in it because the parent's type does not declare it.
        undeclared: Vec<String>,
    },
    /// It is as it should be as far as the server keeps what it should be, or the parent is gone.
    Unchanged,
    /// What it may hold is not published yet.
    NotYet,
}

/// Patches the status until it is what it should be, or the parent is gone.
async fn patch(
    context: &Context,
    seen: &Object,
    Wanted { handler, conditions, children, holds_none }: Wanted<'_>,
    report: &mut Report,
) -> Result<Patched, ApiError> {
    let is_shared = context.config().shares_status();
    if is_shared && handler.is_none_or(Value::is_null) {
        return Ok(Patched::Unchanged);
    }
    let Some(schema) = context.schema().await? else { return Ok(Patched::NotYet) };
    let mut parent = seen.clone();
    for attempt in 1.. {
        let now = now();
        let cleared = conditions::outdated(&parent, conditions, holds_none);
        let patch = status_patch(StatusInput {
            parent: &parent,
            shared: is_shared.then_some(seen),
            handler,
            conditions,
            cleared: &cleared,
            children,
            observed_generation: true,
            schema: &schema.status,
            now: &now,
        });
        let is_news = undeclared::log(context, parent.ty(), &patch.undeclared);
        if patch.overruled {
            warn_overruled(context, &parent);
        }
        if patch.overruled_condition {
            warn_overruled_condition(context, &parent);
        }
        if patch.is_no_object {
            warn_no_object(context, &parent);
        }
        let undeclared = patch.undeclared;
        let Some(body) = patch.body else {
            if is_news {
                undeclared::tell_of_none(context, &parent, &undeclared);
            }
            return Ok(Patched::Unchanged);
        };
        let change = change_of(&parent, &body);
        if report.memory.troubles().unkept_status == Some(change) {
            return Ok(Patched::Unchanged);
        }
        let (cluster, manager) = (context.cluster(), context.name().as_str());
        let is_found = match cluster.patch_status(parent.ty(), parent.key(), manager, &body).await {
            Ok(reply) if reply == parent => {
                report.memory.troubles_mut().unkept_status = Some(change);
                return Ok(Patched::Unchanged);
            }
            Ok(reply) => {
                if let Some(troubles) = report.memory.troubles_if(false) {
                    troubles.unkept_status = None;
                }
                context.metrics().status_written(context.name());
                context.learn(&parent, reply.clone());
                return Ok(Patched::Written { reply, paths: patched_paths(&body), undeclared });
            }
            Err(error) if error.class() == ErrorClass::Conflict && attempt < TRIES => true,
            Err(error) if error.code() == Some(404) && attempt < TRIES => false,
            Err(error) => return Err(error),
        };
        match cluster.read(parent.ty(), parent.key()).await? {
            Some(live) if live == parent && !is_found => {
                // The parent is there, its status is not.
                let what = undeclared::text(parent.ty(), &["the status subresource".to_owned()]);
                warn_once(context, &parent, undeclared::REASON, &what);
                return Ok(Patched::Unchanged);
            }
            Some(live) => {
                context.learn_live(live.clone());
                let is_outdated = is_shared
                    && handler.is_some_and(|status| is_list_outdated(status, seen, &live));
                if is_outdated || !is_still_about(context, &parent, &live) {
                    // The run that the change causes writes the status.
                    return Ok(Patched::Unchanged);
                }
                parent = live;
            }
            None => return Ok(Patched::Unchanged),
        }
    }
    Ok(Patched::Unchanged)
}

/// A change of a status as a number. What the server does not keep (a zero that it leaves out, another
/// form of a quantity) is not sent again while all is as it was.
fn change_of(parent: &Object, body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    let before = parent.field("status").unwrap_or_default();
    (before.to_string(), body["status"].to_string()).hash(&mut hasher);
    hasher.finish()
}

/// Whether what a run found out about one version of a parent holds for another. One that has left the
/// selection may be the parent of somebody else by now.
fn is_still_about(context: &Context, parent: &Object, live: &Object) -> bool {
    live.uid() == parent.uid()
        && live.generation() == parent.generation()
        && live.is_deleting() == parent.is_deleting()
        && context.selects(live) == context.selects(parent)
}

/// Says once that the handler uses a name that is the framework's.
fn warn_overruled(context: &Context, parent: &Object) {
    let message = "what the handler returns as status.children or status.childrenOmitted is not \
                   written: the operator lists its children there (with_child_status)";
    warn_once(context, parent, "OverruledStatus", message);
}

/// The same of a condition.
fn warn_overruled_condition(context: &Context, parent: &Object) {
    let message = "the conditions Ready, Reconciling and Stalled that the handler returns are not \
                   written: they are the operator's; give one of its own another type";
    warn_once(context, parent, "OverruledStatus", message);
}

/// Says once that what the handler returns can be no status.
fn warn_no_object(context: &Context, parent: &Object) {
    let message = "the status that the handler returns is no JSON object, so it is not written: \
                   return a map or a struct with fields, or none";
    warn_once(context, parent, "InvalidStatus", message);
}

fn warn_once(context: &Context, parent: &Object, reason: &'static str, message: &str) {
    if context.said.is_due(message) {
        tracing::warn!(operator = %context.name(), "{message}");
        events::tell_once(context, parent, (EventKind::Warning, reason, message.to_owned()));
    }
}

fn announce(context: &Context, parent: &Object, report: &mut Report) {
    flapping::announce(context, parent, report);
    if let Some(failure) = report.take_failure() {
        events::failed(context, parent, &failure, report);
        report.fail(failure);
    }
}

fn now() -> String {
    use k8s_openapi::jiff::{SignedDuration, Timestamp, Unit};
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let seconds = now.round(Unit::Second).unwrap_or(now);
    debug_assert!(seconds.duration_since(now).abs() <= SignedDuration::from_secs(1));
    seconds.to_string()
}
