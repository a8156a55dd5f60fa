//! Whether a parent whose children are up to date is ready: by its handler, or by its children.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    journal::{Fact, NotReady},
    object::{Object, Quoted, ReadyState},
    operator::Condition,
    plan::{ChildId, FAILED_JOB, FinishedJobs},
    report::ready,
    run::module_view::View,
};

/// The most children named.
const NAMED: usize = 3;

/// `uncounted` are the children whose readiness does not count, and `finished_jobs` those whose TTL may have removed
/// them.
pub(in crate::run) fn judged(
    status: Option<&Value>,
    uncounted: &BTreeSet<ChildId>,
    finished_jobs: &FinishedJobs,
    view: &View<'_>,
) -> Vec<Fact> {
    // In a shared status a `Ready` is about the parent, not about the operator.
    let status = status.filter(|_| !view.settings.config().shares_status());
    let names = view.condition_names();
    let returned = |status: &Value| {
        if !names.is_prefixed() {
            return ready::returned(status, view.parent);
        }
        ready::returned(&names.alone_in(status), &names.alone(view.parent))
    };
    match status.and_then(returned) {
        Some(ready) => {
            let not_ready = (!ready.is_true()).then(|| Fact::NotReady(by_handler(ready)));
            [Fact::ReadyReturned].into_iter().chain(not_ready).collect()
        }
        None => {
            by_children(uncounted, finished_jobs, view).map(Fact::NotReady).into_iter().collect()
        }
    }
}

fn by_handler(ready: Condition) -> NotReady {
    let Condition { status, reason, message, .. } = ready;
    let why = [reason, message].into_iter().filter(|text| !text.is_empty());
    let why = why.collect::<Vec<_>>().join(": ");
    NotReady::Handler(Quoted::new(if why.is_empty() { format!("Ready={status}") } else { why }))
}

/// Those that have failed come first.
fn by_children(
    uncounted: &BTreeSet<ChildId>,
    finished_jobs: &FinishedJobs,
    view: &View<'_>,
) -> Option<NotReady> {
    let observed = view.observed();
    let config = view.settings.config();
    let state = |child: &Object| config.ready_state(child);
    let counts = |child: &&Object| {
        view.settings.is_ours(view.parent, child) && !uncounted.contains(&ChildId::of(child))
    };
    let not_ready = observed.iter().filter(|child| !state(child).is_good()).filter(counts);
    let mut not_ready: Vec<&Object> = not_ready.collect();
    not_ready.sort_by_key(|child| state(child) != ReadyState::Failed);
    let why =
        |child: &&Object| (ChildId::of(child), Quoted::new(config.readiness(child).to_string()));
    let is_gone = |job: &ChildId| view.own_child(job).is_none() && !uncounted.contains(job);
    let gone = finished_jobs.failed().filter(is_gone);
    let mut all: Vec<_> = gone.map(|job| (job, Quoted::new(FAILED_JOB))).collect();
    all.extend(not_ready.iter().map(why));
    let more = all.len().saturating_sub(NAMED);
    let first: Vec<_> = all.into_iter().take(NAMED).collect();
    (!first.is_empty()).then_some(NotReady::Children { first, more })
}
