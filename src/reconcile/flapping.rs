//! Around steps 4 and 5: what a run writes again is noted, who else writes is found out, and when it
//! is too often that is said and the parent is slowed down. What is too often is for
//! [`Flapping`] to say.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{Context, Report, conditions::reason_shown, events, status::Wanted};
use crate::{
    cluster::EventKind,
    history::Verb,
    object::{K8sType, Object, ObjectKey},
    operator::{Children, Condition, OperatorConfig},
    plan::{
        ChildId, Flapping, FlappingReason, Plan, Rewrite, RewriteReason, Subject, Write, is_ours,
        patched_paths, rewrites, rival, status_wish,
    },
};

/// The longest backoff is within it, so that a fight is not forgotten between two slow repairs.
pub(super) fn window(config: &OperatorConfig) -> Duration {
    config.max_error_backoff.saturating_mul(2)
}

/// Notes which parent the run is about, and forgets what has come to rest.
pub(super) fn begin(context: &Context, parent: &Object, report: &mut Report) {
    let version = parent.resource_version();
    report.is_same_parent = report.memory.parent.as_ref() == Some(version);
    report.memory.parent = Some(version.clone());
    report.memory.flapping.forget_before(Instant::now(), window(context.config()));
}

/// Notes which steps of a plan write again; what is known of the children is that of the run before.
pub(super) fn foresee(
    context: &Context,
    plan: &Plan,
    observed: &Children,
    parent: &Object,
    report: &mut Report,
) {
    let memos = &report.memory.memos;
    let (config, name) = (context.config(), context.name());
    let ours = |child: &Object| is_ours(config, name, parent, child);
    report.rewrites = rewrites(plan, memos, observed, &ours, report.is_same_parent);
    for (id, rewrite) in &mut report.rewrites {
        // What is left to others is no reason to write.
        let Some(contested) = memos.contested_of(id) else { continue };
        let is_ours = |path: &&String| !contested.holds(path);
        let ours: Vec<_> = rewrite.paths.iter().filter(is_ours).cloned().collect();
        if !ours.is_empty() {
            rewrite.paths = ours;
        }
    }
}

/// Looks who else writes a child directly before the write that makes it a fight: afterwards all is
/// ours, and nobody else shows.
pub(super) async fn look(context: &Context, id: &ChildId, report: &mut Report) {
    let Some(rewrite) = report.rewrites.get(id) else { return };
    let (subject, why) = (Subject::Child(id.clone()), rewrite.why.into());
    let is_due = rewrite.why == RewriteReason::Drift && rewrite.to.is_some();
    if is_due && report.memory.flapping.is_about_to_begin(&subject, why) {
        let found = find_rival(context, &id.ty, &id.key, &rewrite.paths, None).await;
        let rival = found.or_else(|| rewrite.changed_by.clone());
        report.memory.flapping.blame(&subject, why, rival);
    }
}

/// A child that seemed to be gone is there: somebody has changed it so that it left our sight.
pub(super) async fn found(context: &Context, write: &Write, live: &Object, report: &mut Report) {
    let Some(rewrite) = report.rewrites.get_mut(&write.id) else { return };
    rewrite.paths.clone_from(&write.paths);
    rewrite.to = Some(live.resource_version().clone());
    rewrite.changed_by = live.changed_by().map(str::to_owned);
    look(context, &write.id, report).await;
}

/// One live read of the whole object. Nobody waits for the answer but a message.
async fn find_rival(
    context: &Context,
    ty: &K8sType,
    key: &ObjectKey,
    paths: &[String],
    subresource: Option<&str>,
) -> Option<String> {
    match context.cluster().read_whole(ty, key).await {
        Ok(live) => rival(&live?, paths, context.name().as_str(), subresource),
        Err(error) => {
            tracing::debug!(operator = %context.name(), %error, "cannot look who else writes");
            None
        }
    }
}

/// Counts what was written again.
pub(super) fn note(context: &Context, report: &mut Report) {
    let mut replaced = BTreeSet::new();
    for (id, rewrite, verb) in std::mem::take(&mut report.rewritten) {
        if verb == Verb::Deleted && is_replaced(&id, &rewrite, report) {
            replaced.insert(id.ty);
            continue;
        }
        if rewrite.to.is_none() && verb != Verb::Created {
            // It was there, and is ours again: nobody had deleted it.
            continue;
        }
        let fields = rewrite.paths.len().max(1);
        if rewrite.why == RewriteReason::Drift {
            let manager = rewrite.changed_by.as_deref();
            context.metrics().drift_repaired(context.name(), &id.ty, manager, fields);
        }
        again(context, &Subject::Child(id), rewrite.why.into(), &rewrite.paths, report);
    }
    for ty in replaced {
        again(context, &Subject::Children(ty), FlappingReason::UnstableHandler, &[], report);
    }
    wait_for_return(report);
}

/// What was deleted to be created anew is to be there again before its parent waits, and not only when
/// it has waited: the wait is owed until then. But once in a row only: what is deleted again at once is
/// there already, by the hand of somebody else.
fn wait_for_return(report: &mut Report) {
    let owed = report.memory.troubles_if(false).and_then(|troubles| troubles.owed_wait.take());
    let is_refused = report.failure().is_some_and(|failure| !failure.is_stalled());
    let is_still_away = owed.is_some() && (!report.replacing.is_empty() || is_refused);
    let is_away = match report.recreated {
        0 => report.slowed.is_none() && is_still_away,
        _ => owed.is_none(),
    };
    let times = report.slowed.max(owed).unwrap_or_default();
    if is_away {
        report.slowed = None;
        report.memory.troubles_mut().owed_wait = Some(times);
    } else {
        report.slowed = (times > 0).then_some(times);
    }
}

/// Whether a child that the handler does not want any more, for the same request, went where another of
/// its type came: its name is of no use to count by.
fn is_replaced(id: &ChildId, rewrite: &Rewrite, report: &Report) -> bool {
    let of_type = format!("{} ", id.ty);
    rewrite.why == RewriteReason::OtherAnswer
        && rewrite.paths.is_empty()
        && report
            .writes
            .iter()
            .any(|write| write.verb == Verb::Created && write.child.starts_with(&of_type))
}

fn again(
    context: &Context,
    subject: &Subject,
    why: FlappingReason,
    paths: &[String],
    report: &mut Report,
) {
    let times = report.memory.flapping.again(subject, why, paths, Instant::now());
    if times > 0 {
        context.metrics().flapping(context.name(), why.name());
        report.slowed = report.slowed.max(Some(times));
    }
}

// === the status ===

/// A status that is about to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatusWish {
    wish: u64,
    /// It was so written before, and somebody else has changed the parent since.
    is_contested: bool,
}

/// Looks who else writes the status, directly before the write that makes it a fight.
pub(super) async fn look_at_status(
    context: &Context,
    parent: &Object,
    Wanted { handler, conditions: said, children, .. }: Wanted<'_>,
    report: &mut Report,
) -> StatusWish {
    const WHY: FlappingReason = FlappingReason::FightingOverStatus;
    // Of a status that others write too only what the handler returns is ours: a fight is about that.
    let is_shared = context.config().shares_status();
    let is_meant = |it: &&Condition| !is_shared && it.ty != Flapping::CONDITION;
    let said: Vec<_> = said.iter().filter(is_meant).cloned().collect();
    let wish = status_wish(parent, handler, &said, children);
    let is_contested = !report.is_same_parent && report.memory.status == Some(wish);
    if is_contested && report.memory.flapping.is_about_to_begin(&Subject::Status, WHY) {
        let paths = handler.filter(|_| is_shared).map(|status| json!({"status": status}));
        let paths = paths.as_ref().map(patched_paths).unwrap_or_default();
        let found = find_rival(context, parent.ty(), parent.key(), &paths, Some("status")).await;
        report.memory.flapping.blame(&Subject::Status, WHY, found);
    }
    StatusWish { wish, is_contested }
}

/// The status says what it should: as it did already, or as the reply to its write shows, which is
/// counted if it is again.
pub(super) fn note_status(
    context: &Context,
    StatusWish { wish, is_contested }: StatusWish,
    written: Option<(&Object, &[String])>,
    report: &mut Report,
) {
    report.memory.status = Some(wish);
    let Some((reply, paths)) = written else { return };
    let version = reply.resource_version();
    if is_contested && report.memory.parent.as_ref() != Some(version) {
        again(context, &Subject::Status, FlappingReason::FightingOverStatus, paths, report);
    }
    report.memory.parent = Some(version.clone());
}

// === the finalizers ===

const FINALIZERS: (&Subject, FlappingReason) =
    (&Subject::Finalizers, FlappingReason::FightingOverFinalizer);

/// Whether a change of the finalizers waits, because somebody else undoes it again and again; the
/// run is slowed then. It waits for half the delay, the least that a slowed run gets: the run that
/// comes after its own delay finds it over.
pub(super) fn puts_off_finalizers(context: &Context, report: &mut Report) -> bool {
    let backoff = context.policy().backoff;
    let rest = |times| backoff.delay(times, 0) / 2;
    let times = report.memory.flapping.rests(FINALIZERS, Instant::now(), rest);
    report.slowed = report.slowed.max(times);
    times.is_some()
}

/// Counts a change of the finalizers that is not the first of the process.
pub(super) fn note_finalizers(context: &Context, report: &mut Report) {
    if std::mem::replace(&mut report.memory.changed_finalizers, true) {
        report.memory.flapping.forget_before(Instant::now(), window(context.config()));
        let path = [".metadata.finalizers".to_owned()];
        again(context, FINALIZERS.0, FINALIZERS.1, &path, report);
    }
}

// === what is said ===

/// Says once by an Event what has become too often.
pub(super) fn announce(context: &Context, parent: &Object, report: &mut Report) {
    for (why, message) in report.memory.flapping.take_news() {
        tracing::warn!(operator = %context.name(), parent = %parent.key(), reason = why.name(),
            "{message}");
        events::tell(context, parent, (EventKind::Warning, why.name(), message), report);
    }
}

/// Whether the parent still says that something of it is flapping.
pub(super) fn is_said(parent: &Object) -> bool {
    const REASONS: [FlappingReason; 4] = [
        FlappingReason::FightingOverFields,
        FlappingReason::FightingOverStatus,
        FlappingReason::FightingOverFinalizer,
        FlappingReason::UnstableHandler,
    ];
    let reason = reason_shown(parent, Flapping::CONDITION);
    reason.is_some_and(|reason| REASONS.iter().any(|why| why.name() == reason))
}
