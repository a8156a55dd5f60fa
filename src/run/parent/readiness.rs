//! Whether a parent whose children are up to date is ready: by its handler, or by its children.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    journal::{Fact, NotReady},
    object::{Object, Quoted, ReadyState},
    operator::Condition,
    plan::ChildId,
    report::ready,
    run::view::View,
};

/// The most children named.
const NAMED: usize = 3;

/// `uncounted` are the children whose readiness does not count.
pub(in crate::run) fn judged(
    status: Option<&Value>,
    uncounted: &BTreeSet<ChildId>,
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
        None => by_children(uncounted, view).map(Fact::NotReady).into_iter().collect(),
    }
}

fn by_handler(ready: Condition) -> NotReady {
    let Condition { status, reason, message, .. } = ready;
    let why = [reason, message].into_iter().filter(|text| !text.is_empty());
    let why = why.collect::<Vec<_>>().join(": ");
    NotReady::Handler(Quoted::new(if why.is_empty() { format!("Ready={status}") } else { why }))
}

/// Those that have failed come first.
fn by_children(uncounted: &BTreeSet<ChildId>, view: &View<'_>) -> Option<NotReady> {
    let observed = view.snapshot.observed(view.parent);
    let config = view.settings.config();
    let state = |child: &Object| config.ready_state(child);
    let counts = |child: &&Object| {
        view.settings.is_ours(view.parent, child) && !uncounted.contains(&ChildId::of(child))
    };
    let not_ready = observed.iter().filter(|child| !state(child).is_good()).filter(counts);
    let mut not_ready: Vec<&Object> = not_ready.collect();
    not_ready.sort_by_key(|child| state(child) != ReadyState::Failed);
    let named = not_ready.iter().take(NAMED);
    let named =
        named.map(|child| (ChildId::of(child), Quoted::new(config.readiness(child).to_string())));
    let (first, more) = (named.collect::<Vec<_>>(), not_ready.len().saturating_sub(NAMED));
    (!first.is_empty()).then_some(NotReady::Children { first, more })
}
