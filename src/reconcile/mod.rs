//! One run for one parent, in five steps.
//!
//! Layer 5. Knows no actor: what a run needs comes in as a [`Context`] and a [`Job`], what came of
//! it goes out as a [`Report`].
//!
//! ```text
//! 1 snapshot   store readers                      no I/O
//! 2 sync       user code, which may block         no I/O of ours; panic and deadline caught
//! 3 plan       desired + observed -> steps        pure
//! 4 apply      steps -> API server                I/O; replies go into the stores at once
//! 5 status     what came of it -> API server      I/O
//! ```
//!
//! Invariants:
//! - a parent with a deletionTimestamp is never synced: no child is created or changed;
//! - a failed step 2 or 3 writes no child and deletes none;
//! - the words of handlers and servers are told without what the parent's schema marks as secret;
//! - while the parent or the operator is paused no child is written or deleted and no finalizer
//!   changes;
//! - a run that wrote children leaves the status to the run that follows it, except after failures
//!   and for the third in a row.

mod adopt;
mod altered;
mod apply;
mod call;
mod child_status;
mod conditions;
mod contested;
mod context;
mod decisions;
mod delete;
mod event_reading;
mod events;
mod failure;
mod finalize;
mod flapping;
mod gate;
mod halt;
mod immutable;
mod interlock;
mod learn;
mod lingering;
mod meanwhile;
mod memory;
mod on_delete;
mod outcome;
mod overdue;
mod pause;
mod preview;
mod recreate;
mod report;
mod said;
mod schema;
mod series;
mod status;
mod takeover;
mod unavailable;
mod uncollectable;
mod undeclared;
mod undecodable;
mod unsynced;
mod veil;
mod write;

use std::{
    panic::AssertUnwindSafe,
    time::{Instant, SystemTime},
};

use futures::FutureExt;
use serde_json::Value;

pub(crate) use call::panic_text;
pub use context::{Context, ContextParts, Origin, Publish, Show};
pub use failure::Failure;
pub use gate::{CommonPlaces, Entry, Gate, Permit, Ticket, Waiter};
pub use memory::{HandlerFailures, Memory, Troubles};
pub use pause::{Held, Pause, PausedBy};
pub use preview::Remembered;
pub use report::{End, Report};
pub use series::EventLog;

use self::call::Failed;
use crate::{
    history::{RunStep, Verb},
    object::{Object, ObjectKey, Uid},
    operator::{Children, Handler, SyncResponse},
    plan::{self, Plan, PlanInput, Refusal, is_ours},
    schedule::{Finished, WRITING_RUNS_AT_ONCE},
};

/// What a run is about.
#[derive(Debug)]
pub struct Job {
    /// The parent's key.
    pub key: ObjectKey,
    /// The parent's uid: a namesake is another parent.
    pub uid: Uid,
    /// How many runs directly before this one wrote children.
    pub after_writes: u32,
    /// What earlier runs left for this one.
    pub memory: Memory,
}

/// The third run in a row that writes children also writes the status.
const LAST_RUN_WITHOUT_STATUS: u32 = 1;

/// Runs, and after a run that wrote children again at once, on what the replies said: as often as
/// [`WRITING_RUNS_AT_ONCE`] says, or until changes of others go first. The caller holds a [`Permit`]
/// until it returns; the last report holds the memory.
pub async fn run_on(context: &Context, mut job: Job) -> Vec<Report> {
    let mut reports = Vec::new();
    loop {
        let (key, uid, after_writes) = (job.key.clone(), job.uid.clone(), job.after_writes + 1);
        let mut report = run(context, job).await;
        let goes_on = match report.finished(context.config()) {
            Finished::Recreating => true,
            Finished::Wrote => after_writes < WRITING_RUNS_AT_ONCE,
            _ => false,
        };
        if !goes_on || context.gate().is_closed() || gives_way(context, &report) {
            reports.push(report);
            return reports;
        }
        let memory = std::mem::take(&mut report.memory);
        reports.push(report);
        job = Job { key, uid, after_writes, memory };
    }
}

/// What a changed parent asks of its children does not wait for the statuses of those before it.
/// Where children were created all goes on: of many new parents the first are complete early.
fn gives_way(context: &Context, report: &Report) -> bool {
    let has_created = report.writes.iter().any(|write| write.verb == Verb::Created);
    !has_created && context.gate().is_urgent()
}

/// Brings one parent one step closer to what its handler wants. Never fails: what went wrong is in
/// the report, and where a user looks.
async fn run(context: &Context, job: Job) -> Report {
    let (clock, metrics) = (Instant::now(), context.metrics());
    let (key, uid) = (job.key.clone(), job.uid.clone());
    metrics.run_started(context.name());
    let mut report = living(context, job).await;
    report.took = clock.elapsed();
    report.decisions = decisions::made(&report);
    let leaves = context.parent(&key, &uid).is_none_or(|parent| context.is_leaving(&parent));
    report.count_standing(metrics, context.name(), leaves);
    report.memory.shrink();
    context.steps().took(report.steps);
    metrics.run_finished(context.name(), &report.outcome(context.config()), report.took);
    report
}

/// A defect of ours ends a run, and no more: the memory is lost, which costs a few requests.
async fn living(context: &Context, job: Job) -> Report {
    // Begun before anything is read: what changes until it dies is not seen by it.
    let (mut died, key) = (Report::new(SystemTime::now(), Memory::default()), job.key.clone());
    let steps = AssertUnwindSafe(five_steps(context, job));
    steps.catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(operator = %context.name(), parent = %key, "a run died; this is a bug");
        died.fail(Failure::Died);
        died
    })
}

async fn five_steps(context: &Context, job: Job) -> Report {
    let mut report = Report::new(SystemTime::now(), job.memory);
    // 1 snapshot (no I/O)
    let Some(parent) = context.parent(&job.key, &job.uid) else {
        return report.gone();
    };
    let Some(parent) = undecodable::parent_again(context, parent, &mut report).await else {
        return if report.failure().is_some() { report } else { report.gone() };
    };
    if let Some(why) = context.why_unavailable() {
        unavailable::tell(context, &parent, why, &mut report).await;
        return report;
    }
    let seen = parent.clone();
    let parent = match finalize::prepare(context, parent, &mut report).await {
        finalize::Prepared::Sync(parent) => parent,
        finalize::Prepared::Done => {
            veil::draw(context, &seen, &mut report).await;
            events::wrote(context, &seen, &mut report);
            pause::tell_of_value(context, &seen, &mut report);
            pause::tell(context, &seen, &mut report);
            return report;
        }
    };
    flapping::begin(context, &parent, &mut report);
    undecodable::children_again(context, &parent, &mut report).await;
    let observed = context.observed(&parent);
    // 2 sync (user code), 3 plan (pure), 4 apply (I/O)
    let status = sync_and_apply(context, &parent, observed, &mut report).await;
    veil::draw(context, &parent, &mut report).await;
    events::wrote(context, &parent, &mut report);
    altered::tell(context, &parent, &mut report);
    pause::tell_of_value(context, &parent, &mut report);
    pause::tell(context, &parent, &mut report);
    // 5 status (I/O)
    if report.end != End::Alive {
        return report;
    }
    if report.failure().is_some_and(Failure::is_for_good) {
        report.memory.flapping.forget_children();
    }
    if report.has_settled() || job.after_writes > LAST_RUN_WITHOUT_STATUS {
        status::write(context, &parent, status, &mut report).await;
    }
    let window = flapping::window(context.config());
    report.calms_in = report.memory.flapping.calms_in(Instant::now(), window);
    report
}

/// Steps 2 to 4. What comes back is the status that the handler wants.
async fn sync_and_apply(
    context: &Context,
    parent: &Object,
    observed: Children,
    report: &mut Report,
) -> Option<Value> {
    let children = ours(context, parent, &observed);
    let called = call::call(context, (parent, children), report, <dyn Handler>::sync).await;
    if context.has_left(parent) {
        report.end = End::Outdated;
    }
    let response = match called.and_then(|response| Ok(check(response)?)) {
        Ok(_) if report.end == End::Outdated => return None,
        Ok(response) => response,
        Err(Failed { failure, status }) => {
            report.fail(failure);
            return status;
        }
    };
    report.resync = response.resync;
    match planned(context, parent, response.children, &observed, report) {
        Ok(plan) => carry_out(context, parent, plan, &observed, report).await,
        Err(refusals) => report.fail(Failure::Refused(refusals)),
    }
    response.status
}

fn planned(
    context: &Context,
    parent: &Object,
    desired: Vec<Value>,
    observed: &Children,
    report: &mut Report,
) -> Result<Plan, Vec<Refusal>> {
    let planned = plan::plan(PlanInput {
        config: context.config(),
        operator: context.name(),
        parent,
        desired,
        observed,
        unsynced: &context.unsynced(parent),
        memos: &report.memory.memos,
    });
    report.lap(RunStep::Plan);
    if let Ok(plan) = &planned
        && context.config().child_status
    {
        report.told.plan(plan);
    }
    planned
}

/// What a pause keeps from being done is said.
async fn carry_out(
    context: &Context,
    parent: &Object,
    plan: Plan,
    observed: &Children,
    report: &mut Report,
) {
    if let Some(by) = pause::keeps(context, parent, &plan, report) {
        pause::hold(context, plan, by, report).await;
        // A child that cannot be read is said also then.
        if !report.child_failures.is_empty() {
            report.close();
        }
    } else {
        flapping::foresee(context, &plan, observed, parent, report);
        apply::apply(context, parent, plan, report).await;
        flapping::note(context, report);
    }
    report.lap(RunStep::Apply);
}

fn ours(context: &Context, parent: &Object, observed: &Children) -> Children {
    let (config, name) = (context.config(), context.name());
    let of_type = |ty: &crate::object::K8sType| {
        let children =
            observed.of_type(ty).iter().filter(|child| is_ours(config, name, parent, child));
        (ty.clone(), children.cloned().collect())
    };
    Children::new(context.config().children.iter().map(|child| of_type(&child.ty)))
}

fn check(response: SyncResponse) -> Result<SyncResponse, Failure> {
    match response.unserializable {
        Some(why) => Err(Failure::unserializable(why)),
        None => Ok(response),
    }
}

#[cfg(test)]
mod tests;
