//! What needs the attention of the user, most severe first, with links. Reads a limited number of copies.

use std::time::SystemTime;

use super::{
    links,
    parts::{Link, Mark, count, counted},
    sentence::Words,
    time::Moment,
    troubled::{Trouble, Troubled},
};
use crate::{
    board::{Board, OperatorSnapshot, OperatorState, ParentPhase},
    history::{Action, Problem},
    object::ObjectKey,
    operator::Pause,
    web::{
        attention::uncovered_problems,
        members::Item as Listed,
        why::{self, of_operator, of_process},
    },
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
    pub(super) words: Words,
    pub(super) since: Option<Moment>,
    pub(super) next: Option<Moment>,
}

pub(super) fn list(
    board: &Board,
    operators: &[OperatorSnapshot],
    parents: Vec<Troubled>,
    now: SystemTime,
) -> Attention {
    let mut attention = Attention::default();
    // Which operators and caches it degrades says no more.
    let is_reached = match process(board, now) {
        Some(item) => {
            attention.add(item);
            false
        }
        None => true,
    };
    if is_reached {
        operators.iter().filter_map(not_running).for_each(|item| attention.add(item));
    }
    operators.iter().filter_map(standby).for_each(|item| attention.add(item));
    operators.iter().filter_map(|it| paused(it, now)).for_each(|item| attention.add(item));
    if is_reached {
        caches(board, operators, now).for_each(|item| attention.add(item));
    }
    for troubled in parents {
        // Of an operator that another version of the program has, nothing is known here.
        let operator = operators.iter().find(|it| it.info.name.as_str() == troubled.operator);
        if let Some(operator) = operator {
            attention.add_parents(operator, &troubled, now);
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
        operator: &OperatorSnapshot,
        Troubled { phase, parents, .. }: &Troubled,
        now: SystemTime,
    ) {
        let (name, remaining) = (operator.info.name.as_str(), parents.remaining());
        self.total += parents.items.len() + remaining;
        let item = |Listed { spot, value }: &Listed<Trouble>| {
            item(operator, *phase, &spot.key, value.clone(), now)
        };
        self.items.extend(parents.items.iter().map(item));
        if remaining > 0 {
            let text = format!("{remaining} more of {name} are {}", phase.name());
            self.more.push(Link { text, href: links::in_phase(name, *phase) });
        }
    }

    /// Only ready parents are healthy.
    pub(super) fn sentence(&self, operators: &[OperatorSnapshot]) -> String {
        let of = |phase| operators.iter().filter_map(|it| it.parents.get(&phase)).sum::<usize>();
        let ready = counted(of(ParentPhase::Ready), "parent is ready", "parents are ready");
        let all: usize = operators.iter().flat_map(|operator| operator.parents.values()).sum();
        match (self.total, all - of(ParentPhase::Ready)) {
            (0, _) if all == 0 => "There are no parents yet.".to_owned(),
            (0, 0) => format!("Nothing needs attention: {ready}."),
            (0, others) => {
                format!("Nothing needs attention yet: {ready}, {} in progress.", count(others))
            }
            (total, _) => counted(total, "thing needs attention.", "things need attention."),
        }
    }
}

fn item(
    operator: &OperatorSnapshot,
    phase: ParentPhase,
    key: &ObjectKey,
    Trouble { problems, since, next }: Trouble,
    now: SystemTime,
) -> Item {
    let name = operator.info.name.as_str();
    Item {
        mark: phase.into(),
        title: key.to_string(),
        href: links::parent(name, key),
        of: format!("{} of {name}", operator.info.config.parent.kind()),
        words: problems.into(),
        since: since.map(|at| Moment::past(at, now)),
        next: next.map(|at| Moment::ahead(at, now)),
    }
}

/// What keeps all operators from reconciling: an API server that does not answer, or refuses the credentials.
fn process(board: &Board, now: SystemTime) -> Option<Item> {
    let problems = of_process(board);
    (!problems.is_empty()).then(|| Item {
        mark: Mark::bad("unreachable"),
        title: "API server".to_owned(),
        href: "/ui/cache".to_owned(),
        of: "of all operators".to_owned(),
        words: problems.into(),
        since: board.unreachable_since().map(|at| Moment::past(at, now)),
        next: None,
    })
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
        words: of_operator(operator).into(),
        since: None,
        next: None,
    })
}

/// Another process does the work, and knows how the parents are.
fn standby(operator: &OperatorSnapshot) -> Option<Item> {
    let (problem, name) = (why::standby(operator)?, operator.info.name.as_str());
    Some(Item {
        mark: Mark::paused("standby"),
        title: name.to_owned(),
        href: links::operator(name),
        of: "operator".to_owned(),
        words: vec![problem].into(),
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
        words: vec![paused_problem(name, pause)].into(),
        since: pause.since().map(|at| Moment::past(at, now)),
        next: None,
    })
}

fn paused_problem(name: &str, pause: &Pause) -> Problem {
    Problem::new(format!("Operator {name} is paused: no child of its parents is written"))
        .because(pause.to_string())
        .cured_by([Action::text("Resume it")])
}

/// The caches with problems that no operator covers.
fn caches(
    board: &Board,
    operators: &[OperatorSnapshot],
    now: SystemTime,
) -> impl Iterator<Item = Item> {
    uncovered_problems(board, operators).into_iter().map(move |(cache, problem)| Item {
        mark: Mark::warn("cache"),
        title: cache.store.ty().resource_name(),
        href: links::cache(cache.store.ty()),
        of: "cache".to_owned(),
        words: vec![Problem::new(problem)].into(),
        since: cache.state.version_regressed.map(|at| Moment::past(at, now)),
        next: None,
    })
}
