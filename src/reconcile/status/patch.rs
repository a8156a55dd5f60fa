//! Sending a status until the parent shows it, or it is the matter of another run. What it is to say is
//! decided before.

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use serde_json::Value;

use super::{
    super::{Context, Report, conditions, events, undeclared},
    Wanted,
};
use crate::{
    cluster::{ApiError, ErrorClass, EventKind, TypeSchema},
    object::Object,
    plan::{StatusInput, StatusPatch, is_list_outdated, patched_paths, status_patch},
};

const TRIES: usize = 3;

/// What came of writing a status.
pub(super) enum Patched {
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
pub(super) async fn patch(
    context: &Context,
    seen: &Object,
    wanted: Wanted<'_>,
    report: &mut Report,
) -> Result<Patched, ApiError> {
    if context.config().shares_status() && wanted.handler.is_none_or(Value::is_null) {
        return Ok(Patched::Unchanged);
    }
    let Some(schema) = context.schema().await? else { return Ok(Patched::NotYet) };
    Patching { context, seen, wanted, schema, report }.until_shown().await
}

struct Patching<'a> {
    context: &'a Context,
    /// The parent as the handler read it.
    seen: &'a Object,
    wanted: Wanted<'a>,
    schema: Arc<TypeSchema>,
    report: &'a mut Report,
}

impl Patching<'_> {
    async fn until_shown(mut self) -> Result<Patched, ApiError> {
        let mut parent = self.seen.clone();
        for attempt in 1.. {
            let patch = self.patch_of(&parent);
            let Some(body) = patch.body else { break };
            let error = match self.send(&parent, &body).await {
                Ok(Some(reply)) => {
                    let (paths, undeclared) = (patched_paths(&body), patch.undeclared);
                    return Ok(Patched::Written { reply, paths, undeclared });
                }
                Ok(None) => break,
                Err(error) if attempt < TRIES => error,
                Err(error) => return Err(error),
            };
            match self.look_again(&parent, error).await? {
                Some(live) => parent = live,
                None => break,
            }
        }
        Ok(Patched::Unchanged)
    }

    /// What is to be changed of a version of the parent; what is not sent of the wish is told.
    fn patch_of(&self, parent: &Object) -> StatusPatch {
        let (context, now) = (self.context, now());
        let Wanted { handler, conditions, children, holds_none } = self.wanted;
        let patch = status_patch(StatusInput {
            parent,
            shared: context.config().shares_status().then_some(self.seen),
            handler,
            conditions,
            cleared: &conditions::outdated(parent, conditions, holds_none),
            children,
            observed_generation: true,
            schema: &self.schema.status,
            now: &now,
        });
        warn(context, parent, &patch);
        patch
    }

    /// The reply; `None` if the server keeps nothing of it.
    async fn send(&mut self, parent: &Object, body: &Value) -> Result<Option<Object>, ApiError> {
        let (context, change) = (self.context, change_of(parent, body));
        let patience = context.config().max_error_backoff;
        let is_vain = |(sent, at): (u64, Instant)| sent == change && at.elapsed() < patience;
        if self.report.memory.troubles().unkept_status.is_some_and(is_vain) {
            return Ok(None);
        }
        let (cluster, manager) = (context.cluster(), context.name().as_str());
        let reply = cluster.patch_status(parent.ty(), parent.key(), manager, body).await?;
        let is_kept = reply != *parent;
        if let Some(troubles) = self.report.memory.troubles_if(!is_kept) {
            troubles.unkept_status = (!is_kept).then(|| (change, Instant::now()));
        }
        if is_kept {
            context.metrics().status_written(context.name());
            context.learn(parent, reply.clone());
        }
        Ok(is_kept.then_some(reply))
    }

    /// The parent as it is by now, if what was to be said is still about that.
    async fn look_again(
        &self,
        parent: &Object,
        error: ApiError,
    ) -> Result<Option<Object>, ApiError> {
        let (context, is_missing) = (self.context, error.code() == Some(404));
        if !is_missing && error.class() != ErrorClass::Conflict {
            return Err(error);
        }
        let live = context.cluster().read(parent.ty(), parent.key()).await?;
        let Some(live) = live else { return Ok(None) };
        if is_missing && live == *parent {
            // The parent is there, its status is not.
            let what = undeclared::text(parent.ty(), &["the status subresource".to_owned()]);
            warn_once(context, parent, undeclared::REASON, &what);
            return Ok(None);
        }
        context.learn_live(live.clone());
        let is_outdated = self.is_outdated(&live) || !is_still_about(context, parent, &live);
        // The run that the change causes writes the status.
        Ok((!is_outdated).then_some(live))
    }

    /// Whether only the handler can say what is to be in a list that others have changed.
    fn is_outdated(&self, live: &Object) -> bool {
        self.context.config().shares_status()
            && self.wanted.handler.is_some_and(|status| is_list_outdated(status, self.seen, live))
    }
}

/// A change of a status as a number. What the server does not keep (a zero that it leaves out, another
/// form of a quantity) is not sent again by each run while all is as it was.
fn change_of(parent: &Object, body: &Value) -> u64 {
    let before = parent.field("status").unwrap_or_default();
    events::hash(&(before.to_string(), body["status"].to_string()))
}

/// Whether what a run found out about one version of a parent holds for another. One that has left the
/// selection may be the parent of somebody else by now.
fn is_still_about(context: &Context, parent: &Object, live: &Object) -> bool {
    live.uid() == parent.uid()
        && live.generation() == parent.generation()
        && live.is_deleting() == parent.is_deleting()
        && context.selects(live) == context.selects(parent)
}

/// Says once what of a wish is not sent, and why.
fn warn(context: &Context, parent: &Object, patch: &StatusPatch) {
    let is_news = undeclared::log(context, parent.ty(), &patch.undeclared);
    if is_news && patch.body.is_none() {
        undeclared::tell_of_none(context, parent, &patch.undeclared);
    }
    if patch.overruled {
        warn_overruled(context, parent);
    }
    if patch.overruled_condition {
        warn_overruled_condition(context, parent);
    }
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

fn warn_once(context: &Context, parent: &Object, reason: &'static str, message: &str) {
    if context.said.is_due(message) {
        tracing::warn!(operator = %context.name(), "{message}");
        events::tell_once(context, parent, (EventKind::Warning, reason, message.to_owned()));
    }
}

fn now() -> String {
    use k8s_openapi::jiff::{SignedDuration, Timestamp, Unit};
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let seconds = now.round(Unit::Second).unwrap_or(now);
    debug_assert!(seconds.duration_since(now).abs() <= SignedDuration::from_secs(1));
    seconds.to_string()
}
