//! `/ui/operators/{operator}`: its parents in pages, and its configuration.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use askama::Template;
use serde::Deserialize;

use super::{
    facts::{CacheRow, Fact, type_words},
    frame::{self, Frame, NoPage, Section},
    links, namespaces,
    parent_row::ParentRow,
    parts::{Asks, Bar, Button, Mark, Part, Prose, count, counted, parts},
    time::{Moment, span, took},
};
use crate::{
    board::{Board, Leadership, OperatorRestarts, OperatorSnapshot, ParentState, QueueState},
    object::ObjectKey,
    operator::Pause,
    web::{state::WebState, status::Refused},
};

#[derive(Debug, Default, Deserialize)]
pub(in crate::web) struct ParentsQuery {
    /// A part of the name.
    #[serde(default)]
    q: String,
    #[serde(default)]
    phase: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    r#continue: String,
}

#[derive(Template)]
#[template(path = "operator.html")]
struct View {
    frame: Frame,
    name: String,
    kind: String,
    mark: Mark,
    reasons: Vec<Prose>,
    paused: Option<PausedNotice>,
    standby: Option<String>,
    activity: String,
    commands: Vec<Button>,
    bar: Bar,
    tabs: Vec<Tab>,
    query: ParentsQuery,
    namespaces: Vec<String>,
    shown: String,
    rows: Vec<ParentRow>,
    first: Option<String>,
    next: Option<String>,
    facts: Vec<Fact>,
    children: Vec<(String, &'static str)>,
    caches: Vec<CacheRow>,
}

/// The notice about the pause of the operator.
struct PausedNotice {
    who: String,
    since: Option<Moment>,
    until: Option<Moment>,
    reason: String,
}

struct Tab {
    word: &'static str,
    count: String,
    href: String,
    is_current: bool,
}

const ROWS: usize = 100;
/// The limit of selectable namespaces; others can be entered in the URL.
const NAMESPACES: usize = 200;

pub(super) async fn show(
    name: Path<String>,
    query: Query<ParentsQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let view = view(&state.board, &name, query.into_inner(), SystemTime::now())?;
    Ok(frame::answer(&view))
}

fn view(board: &Board, name: &str, query: ParentsQuery, now: SystemTime) -> Result<View, Refused> {
    let operator = board.operator(name).ok_or_else(|| Refused::NoOperator(name.to_owned()))?;
    let after = links::after(&query.r#continue)?;
    let needle = query.q.to_lowercase();
    let found =
        board.select(name, after.as_ref(), ROWS, |key, state| query.wants(&needle, key, state));
    let found = found.ok_or_else(|| Refused::NoOperator(name.to_owned()))?;
    let last = found.items.last().map(|(key, _)| key.to_string());
    let next = last.filter(|_| found.remaining > 0).map(|last| query.at(name, &last));
    Ok(View {
        frame: Frame::new(name, Section::Operators, now)
            .of(board)
            .below("Overview", "/")
            .listening_to(name, None),
        name: name.to_owned(),
        kind: operator.info.config.parent.kind().to_owned(),
        mark: (&operator).into(),
        reasons: operator.state.reasons().iter().map(Prose::from).collect(),
        paused: operator.paused.as_ref().map(|pause| PausedNotice::new(pause, now)),
        standby: standby(board, &operator),
        activity: links::activity(name, ""),
        commands: commands(&operator),
        bar: Bar::new(&operator),
        tabs: tabs(&operator, &query),
        namespaces: namespaces::of_parents(board, name, NAMESPACES),
        shown: shown(found.items.len(), found.chosen, after.is_some()),
        rows: found
            .items
            .iter()
            .map(|(key, state)| ParentRow::new(name, key, state, now))
            .collect(),
        first: after.map(|_| query.at(name, "")),
        next,
        facts: facts(board, &operator, now),
        children: children(&operator),
        caches: caches(board, &operator, now),
        query,
    })
}

/// Why this process writes nothing.
fn standby(board: &Board, operator: &OperatorSnapshot) -> Option<String> {
    let standby = operator.leadership.as_ref().and_then(Leadership::sentence);
    if board.is_plan_only() { Some("plan mode".to_owned()) } else { standby }
}

fn commands(operator: &OperatorSnapshot) -> Vec<Button> {
    let api = links::operator_api(operator.info.name.as_str());
    vec![match operator.paused {
        Some(_) => Button::new("Resume the operator", format!("{api}/resume")),
        None => Button::new("Pause the operator", format!("{api}/pause")).asking(Asks {
            what: "No child of its parents is written until it is resumed or the process ends.",
            confirm: Some(confirm(operator.parents.values().sum())),
            send: "Pause all parents",
        }),
    }]
}

fn confirm(parents: usize) -> String {
    match parents {
        1 => "Pause its parent".to_owned(),
        parents => format!("Pause all of its {} parents", count(parents)),
    }
}

impl PausedNotice {
    fn new(pause: &Pause, now: SystemTime) -> Self {
        Self {
            who: pause.who().to_owned(),
            since: pause.since().map(|at| Moment::past(at, now)),
            until: pause.until().map(|at| Moment::ahead(at, now)),
            reason: pause.reason_given(),
        }
    }
}

fn shown(rows: usize, chosen: usize, is_later: bool) -> String {
    match (rows, is_later) {
        (0, _) => "No parent matches.".to_owned(),
        (_, false) if rows == chosen => counted(rows, "parent", "parents"),
        (_, false) => format!("The first {rows} of {} parents", count(chosen)),
        (_, true) => format!("{rows} of {} parents", count(chosen)),
    }
}

fn tabs(operator: &OperatorSnapshot, query: &ParentsQuery) -> Vec<Tab> {
    let name = operator.info.name.as_str();
    let tab = |word, number, phase: &str| Tab {
        word,
        count: count(number),
        href: format!(
            "{}{}",
            links::operator(name),
            links::query(&[("q", &query.q), ("phase", phase), ("namespace", &query.namespace),])
        ),
        is_current: query.phase == phase,
    };
    let all = tab("all", operator.parents.values().sum(), "");
    let phases = parts(name, &operator.parents);
    let phases =
        phases.iter().map(|Part { mark, count, .. }| tab(mark.word(), *count, mark.word()));
    [all].into_iter().chain(phases).collect()
}

fn facts(board: &Board, operator: &OperatorSnapshot, now: SystemTime) -> Vec<Fact> {
    let config = &operator.info.config;
    let namespaces = config.namespaces.names();
    let namespaces = namespaces.map(|names| names.iter().cloned().collect::<Vec<_>>().join(", "));
    let deletions = config.deletion_limit.map(|limit| {
        format!("{} % of a parent's children in one reconcile", limit.reconcile.percent)
    });
    let backoff = format!("{} to {}", span_of(config.min_error_backoff), {
        span_of(config.max_error_backoff)
    });
    let mut facts = vec![
        Fact::text("Queue", queue(board, operator)),
        Fact::code("Parents", type_words(&config.parent)),
        Fact::text("Namespaces", namespaces.unwrap_or_else(|| "all".to_owned())),
        Fact::text("Handler timeout", span_of(config.handler_deadline)),
        Fact::text("Retry after", backoff),
        Fact::text("Deletions without confirmation", deletions.unwrap_or_else(|| "all".to_owned())),
        Fact::text("Finalizer", if operator.info.has_finalizer { "yes" } else { "no" }),
    ];
    facts.extend(config.parent_selector.as_ref().map(|it| Fact::code("Selector", it)));
    facts.extend(undeclared(board, operator));
    facts.extend(restarts(operator, now));
    facts.extend(weak_fence(operator));
    facts
}

/// Which writes of a former leader are not held back.
fn weak_fence(operator: &OperatorSnapshot) -> Option<Fact> {
    let weakness = operator.leadership.as_ref()?.reach.weakness()?;
    Some(Fact::text("Leader election", weakness))
}

/// After panics in Operetta.
fn restarts(operator: &OperatorSnapshot, now: SystemTime) -> Option<Fact> {
    let OperatorRestarts { count, last, why } = operator.restarts.as_ref()?;
    let ago = span(now.duration_since(*last).unwrap_or_default());
    Some(Fact::text("Restarts", format!("{count}, the last {ago} ago: {why}")))
}

fn undeclared(board: &Board, operator: &OperatorSnapshot) -> Option<Fact> {
    let fields = board.undeclared(operator.info.name.as_str());
    let named: Vec<String> = fields.iter().map(ToString::to_string).collect();
    let fact = Fact::code("Not written, because the CRD does not declare it", named.join(", "));
    (!fields.is_empty()).then_some(fact)
}

fn queue(board: &Board, operator: &OperatorSnapshot) -> String {
    let Some(queue) = board.queue(operator.info.name.as_str()) else {
        return format!(
            "at most {} concurrent reconciles",
            operator.info.config.max_concurrent_reconciles
        );
    };
    let waiting: usize = queue.waiting.values().sum();
    let longest = queue.longest_wait.map(|wait| format!(", the longest for {}", took(wait)));
    let QueueState { running, limit, .. } = queue;
    format!("{running} of {limit} permits in use, {waiting} waiting{}", longest.unwrap_or_default())
}

fn span_of(time: std::time::Duration) -> String {
    if time.as_secs() == 0 { took(time) } else { span(time) }
}

fn children(operator: &OperatorSnapshot) -> Vec<(String, &'static str)> {
    use crate::operator::UpdateStrategy::{Apply, OnDelete, Recreate};
    let strategy = |strategy| match strategy {
        Apply => "updated in place",
        Recreate => "recreated",
        OnDelete => "not modified until they are deleted",
    };
    let children = &operator.info.config.children;
    children
        .iter()
        .map(|child| (type_words(&child.ty), strategy(child.config.update_strategy)))
        .collect()
}

fn caches(board: &Board, operator: &OperatorSnapshot, now: SystemTime) -> Vec<CacheRow> {
    let config = &operator.info.config;
    let types = [&config.parent].into_iter().chain(config.children.iter().map(|child| &child.ty));
    let caches = types.filter_map(|ty| board.type_state(ty));
    caches.map(|cache| CacheRow::new(&cache, now)).collect()
}

impl ParentsQuery {
    fn wants(&self, needle: &str, key: &ObjectKey, state: &ParentState) -> bool {
        (self.phase.is_empty() || state.phase.name() == self.phase)
            && (self.namespace.is_empty() || key.namespace.as_deref() == Some(&*self.namespace))
            && (needle.is_empty() || key.to_string().to_lowercase().contains(needle))
    }

    /// The same query after another parent.
    fn at(&self, operator: &str, after: &str) -> String {
        let parameters = [
            ("q", &*self.q),
            ("phase", &*self.phase),
            ("namespace", &*self.namespace),
            ("continue", after),
        ];
        format!("{}{}", links::operator(operator), links::query(&parameters))
    }
}
