//! Step 5: saying what came of it, in the parent's status and in Events.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::{Context, Failure, Held, Report, interlock, pause};
use crate::{
    cluster::{ApiError, ErrorClass, EventKind, ParentEvent},
    object::Object,
    plan::{Condition, ConditionStatus, StatusInput, status_patch},
};

const TRIES: usize = 3;

/// Writes the status if it differs, and a Warning Event about a new failure.
pub(super) async fn write(
    context: &Context,
    parent: &Object,
    status: Option<Value>,
    report: &mut Report,
) {
    let said = said(report);
    announce(context, parent, report).await;
    match patch(context, parent, status.as_ref(), &said).await {
        Ok(Patched::Written) => report.wrote_status = true,
        Ok(Patched::Unchanged) => {}
        Ok(Patched::NotYet) => report.status_is_due = true,
        Err(error) => status_failed(context, parent, error, report).await,
    }
}

/// The failure of the status is one of the run, unless that has failed already: then the retry
/// must come even if only a change of the parent could mend the run.
async fn status_failed(context: &Context, parent: &Object, error: ApiError, report: &mut Report) {
    report.status_is_due = report.failure().is_some();
    let is_refused = error.class() == ErrorClass::Permanent;
    report.child_failed(&"the status", error);
    report.close();
    if report.status_is_due {
        return;
    }
    announce(context, parent, report).await;
    if is_refused
        && matches!(patch(context, parent, None, &said(report)).await, Ok(Patched::Written))
    {
        report.wrote_status = true;
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
    let overdue = not_ready(failure.reason(), failure.to_string());
    let said = with_pause(overdue, report);
    announce_failure(context, parent, &failure, report).await;
    if let Err(error) = patch(context, parent, None, &said).await {
        tracing::warn!(operator = %context.name(), parent = %parent.key(), %error,
            "cannot say in the status that the handler is overdue");
    }
}

/// Every condition that a run has something to say about.
fn said(report: &Report) -> Vec<Condition> {
    with_pause(ready(report), report)
}

fn with_pause(ready: Condition, report: &Report) -> Vec<Condition> {
    let paused = report.paused.as_ref().map(pause::condition);
    let held = report.interlock.as_deref().map(interlock::condition);
    std::iter::once(ready).chain(paused).chain(held).collect()
}

fn ready(report: &Report) -> Condition {
    match report.failure() {
        Some(failure) => not_ready(failure.reason(), failure.to_string()),
        None if report.paused.as_ref().is_some_and(|held| *held != Held::Writes(0)) => {
            not_ready(pause::CONDITION, report.waiting.join("; "))
        }
        None if report.interlock.is_some() => {
            not_ready(interlock::CONDITION, report.waiting.join("; "))
        }
        None if !report.waiting.is_empty() => not_ready("Waiting", report.waiting.join("; ")),
        None if report.is_contested() => not_ready("Conflict", report.held.join("; ")),
        None if !report.writes.is_empty() => {
            not_ready("Unsettled", "the children had to be written run after run".to_owned())
        }
        None => Condition {
            ty: "Ready".to_owned(),
            status: ConditionStatus::True,
            reason: "Synced".to_owned(),
            message: settled(&report.held),
        },
    }
}

fn settled(held: &[String]) -> String {
    let settled = "all children are as desired".to_owned();
    if held.is_empty() { settled } else { format!("{settled}, but for {}", held.join("; ")) }
}

fn not_ready(reason: &str, message: String) -> Condition {
    let (ty, reason) = ("Ready".to_owned(), reason.to_owned());
    Condition { ty, status: ConditionStatus::False, reason, message }
}

/// What came of writing a status.
enum Patched {
    Written,
    /// It is as it should be, or the parent is gone.
    Unchanged,
    /// What it may hold is not published yet.
    NotYet,
}

/// Patches the status until it is what it should be, or the parent is gone.
async fn patch(
    context: &Context,
    parent: &Object,
    status: Option<&Value>,
    conditions: &[Condition],
) -> Result<Patched, ApiError> {
    let Some(schema) = context.status_schema().await? else { return Ok(Patched::NotYet) };
    let mut parent = parent.clone();
    for attempt in 1.. {
        let now = now();
        let cleared = outdated(&parent, conditions);
        let patch = status_patch(StatusInput {
            parent: &parent,
            handler: status,
            conditions,
            cleared: &cleared,
            observed_generation: true,
            schema: &schema,
            now: &now,
        });
        warn_undeclared(context, &parent, &patch.undeclared).await;
        let Some(body) = patch.body else { return Ok(Patched::Unchanged) };
        let (cluster, manager) = (context.cluster(), context.name().as_str());
        let is_found = match cluster.patch_status(parent.ty(), parent.key(), manager, &body).await {
            Ok(reply) => {
                context.metrics().status_written(context.name());
                context.learn(&parent, reply);
                return Ok(Patched::Written);
            }
            Err(error) if error.class() == ErrorClass::Conflict && attempt < TRIES => true,
            Err(error) if error.code() == Some(404) => false,
            Err(error) => return Err(error),
        };
        match cluster.read(parent.ty(), parent.key()).await? {
            Some(live) if live == parent && !is_found => {
                // The parent is there, its status is not.
                warn_undeclared(context, &parent, &["the status subresource".to_owned()]).await;
                return Ok(Patched::Unchanged);
            }
            Some(live) => {
                context.learn_live(live.clone());
                if !is_same_generation(&parent, &live) {
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

/// The conditions of ours that do not apply any more.
fn outdated(parent: &Object, conditions: &[Condition]) -> Vec<&'static str> {
    let applies = |ty: &str| conditions.iter().any(|condition| condition.ty == ty);
    let ours = [
        (pause::CONDITION, pause::is_said(parent)),
        (interlock::CONDITION, interlock::is_said(parent)),
    ];
    let outdated = ours.into_iter().filter(|(ty, is_said)| *is_said && !applies(ty));
    outdated.map(|(ty, _)| ty).collect()
}

/// Whether what a run found out about one version of a parent holds for another.
fn is_same_generation(parent: &Object, live: &Object) -> bool {
    live.uid() == parent.uid()
        && live.generation() == parent.generation()
        && live.is_deleting() == parent.is_deleting()
}

/// Says once that something is not sent because the parent's type does not declare it.
async fn warn_undeclared(context: &Context, parent: &Object, undeclared: &[String]) {
    for path in undeclared.iter().filter(|path| context.say_once(path)) {
        let message = format!(
            "{} does not declare {path}, so it is not written; declare it in the CRD, or do not \
             return it",
            parent.ty()
        );
        tracing::warn!(operator = %context.name(), "{message}");
        publish(context, parent, "UndeclaredStatus", message).await;
    }
}

async fn announce(context: &Context, parent: &Object, report: &mut Report) {
    if report.failure().is_none() {
        report.memory.last_event = None;
        return;
    }
    if let Some(failure) = report.take_failure() {
        announce_failure(context, parent, &failure, report).await;
        report.fail(failure);
    }
}

async fn announce_failure(
    context: &Context,
    parent: &Object,
    failure: &Failure,
    report: &mut Report,
) {
    let event = (failure.reason().to_owned(), failure.to_string());
    if report.memory.last_event.as_ref() == Some(&event) {
        return;
    }
    tracing::warn!(operator = %context.name(), parent = %parent.key(), reason = event.0,
        "{}", event.1);
    publish(context, parent, &event.0, event.1.clone()).await;
    report.memory.last_event = Some(event);
}

pub(super) async fn publish(context: &Context, parent: &Object, reason: &str, message: String) {
    let event = ParentEvent { kind: EventKind::Warning, reason: reason.to_owned(), message };
    let published = context.cluster().publish(context.name().as_str(), parent, &event).await;
    if let Err(error) = published {
        tracing::debug!(operator = %context.name(), %error, "cannot create an Event");
    }
}

fn now() -> String {
    use k8s_openapi::jiff::{SignedDuration, Timestamp, Unit};
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let seconds = now.round(Unit::Second).unwrap_or(now);
    debug_assert!(seconds.duration_since(now).abs() <= SignedDuration::from_secs(1));
    seconds.to_string()
}
