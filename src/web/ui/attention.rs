//! What needs the attention of the user, most severe first. Reads a limited number of copies.

use std::time::{Duration, SystemTime};

use super::{
    facts, links,
    parts::{Link, Mark, Prose, counted},
    sentence,
    time::Moment,
};
use crate::{
    board::{Board, OperatorSnapshot, OperatorState, ParentPhase, ParentState, ReconcileStage},
    history::Decided,
    object::{K8sType, ObjectKey},
};

#[derive(Debug, Default)]
pub(super) struct Attention {
    pub(super) items: Vec<Item>,
    /// What is omitted, with links.
    pub(super) more: Vec<Link>,
    /// How many there are in all.
    pub(super) total: usize,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) mark: Mark,
    pub(super) title: String,
    pub(super) href: String,
    /// Its kind and operator.
    pub(super) of: String,
    pub(super) why: Prose,
    pub(super) since: Option<Moment>,
    pub(super) next: Option<Moment>,
}

/// The limit of listed parents of one operator in one phase.
const LISTED: usize = 10;
/// A shorter wait needs no attention.
const PATIENCE: Duration = Duration::from_mins(2);

/// The order: phases that need intervention come first.
const PHASES: [ParentPhase; 9] = [
    ParentPhase::Stalled,
    ParentPhase::Failing,
    ParentPhase::Running,
    ParentPhase::Waiting,
    ParentPhase::Synced,
    ParentPhase::Finalizing,
    ParentPhase::Paused,
    ParentPhase::Ready,
    ParentPhase::Pending,
];

pub(super) fn list(board: &Board, operators: &[OperatorSnapshot], now: SystemTime) -> Attention {
    let mut attention = Attention::default();
    operators.iter().filter_map(not_running).for_each(|item| attention.add(item));
    operators.iter().filter_map(|it| paused(it, now)).for_each(|item| attention.add(item));
    caches(board, operators, now).for_each(|item| attention.add(item));
    for phase in PHASES {
        for operator in operators {
            attention.add_parents(board, operator, phase, now);
        }
    }
    attention
}

impl Attention {
    fn add(&mut self, item: Item) {
        self.items.push(item);
        self.total += 1;
    }

    fn add_parents(
        &mut self,
        board: &Board,
        operator: &OperatorSnapshot,
        phase: ParentPhase,
        now: SystemTime,
    ) {
        if operator.parents.get(&phase).is_none_or(|count| *count == 0) {
            return;
        }
        let name = operator.info.name.as_str();
        let is_wanted =
            |_: &ObjectKey, state: &ParentState| state.phase == phase && matters(state, now);
        let Some(found) = board.select(name, None, LISTED, is_wanted) else { return };
        self.total += found.chosen;
        self.items.extend(found.items.iter().map(|(key, state)| item(operator, key, state, now)));
        if found.remaining > 0 {
            let text = format!("{} more of {name} are {}", found.remaining, phase.name());
            self.more.push(Link { text, href: links::in_phase(name, phase) });
        }
    }

    pub(super) fn sentence(&self, parents: usize) -> String {
        match self.total {
            0 if parents == 0 => "There are no parents yet.".to_owned(),
            0 => format!("Nothing needs attention: {} healthy.", {
                counted(parents, "parent is", "parents are")
            }),
            total => counted(total, "thing needs attention.", "things need attention."),
        }
    }
}

fn matters(state: &ParentState, now: SystemTime) -> bool {
    match state.phase {
        ParentPhase::Stalled | ParentPhase::Failing | ParentPhase::Paused => true,
        ParentPhase::Running if state.stage == ReconcileStage::HandlerTimeout => true,
        ParentPhase::Waiting | ParentPhase::Synced | ParentPhase::Finalizing
            if needs_intervention(state) =>
        {
            true
        }
        ParentPhase::Waiting | ParentPhase::Synced | ParentPhase::Finalizing => {
            let since = state.history.since();
            since.and_then(|since| now.duration_since(since).ok()).is_some_and(|it| it >= PATIENCE)
        }
        // Further reconciles do not resolve it.
        ParentPhase::Ready | ParentPhase::Pending | ParentPhase::Running => {
            needs_intervention(state)
        }
    }
}

/// Whether it requires manual intervention: held deletions, conflicts or flapping.
fn needs_intervention(state: &ParentState) -> bool {
    let decisions = state.history.last().map(|it| &*it.decisions).unwrap_or_default();
    let is_held = decisions.iter().any(|it| matches!(it.what, Decided::Held | Decided::Conflict));
    state.flapping_summary.is_some() || is_held
}

fn item(
    operator: &OperatorSnapshot,
    key: &ObjectKey,
    state: &ParentState,
    now: SystemTime,
) -> Item {
    let name = operator.info.name.as_str();
    Item {
        mark: state.phase.into(),
        title: key.to_string(),
        href: links::parent(name, key),
        of: format!("{} of {name}", operator.info.config.parent.kind()),
        why: sentence::why(state, operator, now).into(),
        since: since(state).map(|at| Moment::past(at, now)),
        next: state.next_wake.map(|wake| Moment::ahead(wake.at, now)),
    }
}

/// A pause began before the last reconcile that found it.
fn since(state: &ParentState) -> Option<SystemTime> {
    let paused = state.pause.as_ref().filter(|_| state.phase == ParentPhase::Paused);
    paused.and_then(|pause| pause.since()).or_else(|| state.history.since())
}

fn not_running(operator: &OperatorSnapshot) -> Option<Item> {
    if operator.state == OperatorState::Running {
        return None;
    }
    let name = operator.info.name.as_str();
    Some(Item {
        mark: (&operator.state).into(),
        title: name.to_owned(),
        href: links::operator(name),
        of: "operator".to_owned(),
        why: text(operator.state.reasons()).into(),
        since: None,
        next: None,
    })
}

fn paused(operator: &OperatorSnapshot, now: SystemTime) -> Option<Item> {
    let (pause, name) = (operator.paused.as_ref()?, operator.info.name.as_str());
    Some(Item {
        mark: Mark::paused("paused"),
        title: name.to_owned(),
        href: links::operator(name),
        of: "operator".to_owned(),
        why: format!(
            "{} has paused it{}: no child of its parents is written until it is resumed.{}",
            pause.who(),
            pause.end(),
            pause.reason_given()
        )
        .into(),
        since: pause.since().map(|at| Moment::past(at, now)),
        next: None,
    })
}

fn text(reasons: &[String]) -> String {
    if reasons.is_empty() { "It has not started yet.".to_owned() } else { reasons.join("; ") }
}

/// Whether an operator is degraded and uses this type, so that its reasons may cover the type.
fn covers(operator: &OperatorSnapshot, ty: &K8sType) -> bool {
    let config = &operator.info.config;
    let is_degraded = matches!(operator.state, OperatorState::Degraded { .. });
    is_degraded && (config.parent == *ty || config.child_config(ty).is_some())
}

/// The caches with problems that no operator covers.
fn caches(
    board: &Board,
    operators: &[OperatorSnapshot],
    now: SystemTime,
) -> impl Iterator<Item = Item> {
    board.types().into_iter().filter_map(move |cache| {
        let is_covered = cache.state.error.is_some()
            && operators.iter().any(|operator| covers(operator, cache.store.ty()));
        let problems = facts::problems(&cache);
        let why = problems.first().filter(|_| !is_covered)?;
        let rest = problems.len() - 1;
        let more = if rest == 0 { String::new() } else { format!(" And {rest} more.") };
        Some(Item {
            mark: Mark::warn("cache"),
            title: cache.store.ty().resource_name(),
            href: links::cache(cache.store.ty()),
            of: "cache".to_owned(),
            why: format!("{why}{more}").into(),
            since: cache.state.version_regressed.map(|at| Moment::past(at, now)),
            next: None,
        })
    })
}
