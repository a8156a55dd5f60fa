//! `/ui/operators/{operator}`: its parents, and its configuration.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use askama::Template;
use serde::{Deserialize, Serialize};

use super::{
    facts::{CacheRow, Fact, type_words},
    frame::{self, Frame, NoPage, Section},
    links, namespaces,
    parent_list::{ListQuery, ListShare, ParentList},
    parts::{Asks, Bar, Button, Mark, Prose, count},
    time::{Moment, span, took},
};
use crate::{
    board::{
        Board, Leadership, Migration, MigrationState, OperatorRestarts, OperatorSnapshot,
        QueueState,
    },
    operator::Pause,
    web::{
        members::{Answers, Census, Members},
        state::WebState,
        status::Refused,
    },
};

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
    migration: Option<MigrationNotice>,
    activity: String,
    commands: Vec<Button>,
    bar: Bar,
    list: ParentList,
    facts: Vec<Fact>,
    children: Vec<(String, &'static str)>,
    caches: Vec<CacheRow>,
}

/// What a process has of the page.
#[derive(Debug, Serialize, Deserialize)]
struct PageShare {
    operator: Census,
    list: ListShare,
    namespaces: Vec<String>,
}

/// The notice about the pause of the operator.
struct PausedNotice {
    who: String,
    since: Option<Moment>,
    until: Option<Moment>,
    reason: String,
}

/// The notice about the migration of its parents from old versions, while it is not over.
struct MigrationNotice {
    is_waiting: bool,
    sentence: Prose,
    failures: Vec<(String, Prose)>,
}

/// The limit of selectable namespaces; others can be entered in the URL.
const NAMESPACES: usize = 200;

pub(super) async fn show(
    name: Path<String>,
    query: Query<ListQuery>,
    state: Data<WebState>,
    members: Members,
) -> Result<HttpResponse, NoPage> {
    let (board, query) = (&state.board, query.into_inner());
    let no_operator = || Refused::NoOperator(name.to_string());
    let operator = board.operator(&name).ok_or_else(no_operator)?;
    let own = PageShare::of(board, &operator, &query)?.ok_or_else(no_operator)?;
    if let Some(answer) = members.asks(&own) {
        return Ok(answer);
    }
    let answers = members.shares().await;
    Ok(frame::answer(&view(board, operator, query, (own, answers), SystemTime::now())))
}

fn view(
    board: &Board,
    mut operator: OperatorSnapshot,
    query: ListQuery,
    (own, answers): (PageShare, Answers<PageShare>),
    now: SystemTime,
) -> View {
    let name = operator.info.name.clone();
    let name = name.as_str();
    for (member, share) in &answers.shares {
        share.operator.count_into(member, std::slice::from_mut(&mut operator));
    }
    let frame = Frame::new(name, Section::Operators, now).of(board).below("Overview", "/");
    let frame = frame.listening_to(name, None).merged_from(&answers);
    let PageShare { list, namespaces, .. } = own.with(answers.into_shares(), &query);
    let list = ParentList::new(list, (name, None), query, now).among(namespaces);
    View {
        frame,
        name: name.to_owned(),
        kind: operator.info.config.parent.kind().to_owned(),
        mark: (&operator).into(),
        reasons: operator.state.reasons().iter().map(Prose::from).collect(),
        paused: operator.paused.as_ref().map(|pause| PausedNotice::new(pause, now)),
        standby: standby(board, &operator),
        migration: board.migration(&operator.info.config.parent).and_then(MigrationNotice::new),
        activity: links::activity(name, ""),
        commands: commands(&operator),
        bar: Bar::new(&operator),
        list,
        facts: facts(board, &operator, now),
        children: children(&operator),
        caches: caches(board, &operator, now),
    }
}

impl PageShare {
    fn of(
        board: &Board,
        operator: &OperatorSnapshot,
        query: &ListQuery,
    ) -> Result<Option<Self>, Refused> {
        let name = operator.info.name.as_str();
        let namespaces = namespaces::of_parents(board, name, NAMESPACES);
        let list = ListShare::of(board, (name, None), query)?;
        Ok(list.map(|list| Self { operator: Census::of([operator]), list, namespaces }))
    }

    /// The list of all.
    fn with(self, others: Vec<Self>, query: &ListQuery) -> Self {
        let (lists, namespaces): (Vec<_>, Vec<_>) =
            others.into_iter().map(|other| (other.list, other.namespaces)).unzip();
        let namespaces = namespaces::joined(self.namespaces, namespaces, NAMESPACES);
        Self { list: self.list.with(lists, query), namespaces, ..self }
    }
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

impl MigrationNotice {
    fn new(migration: Migration) -> Option<Self> {
        let is_waiting = match migration.state {
            MigrationState::Complete => return None,
            MigrationState::Waiting { .. } => true,
            MigrationState::Running => false,
        };
        let sentence = migration.sentence().into();
        let failures = migration.failures.into_iter();
        let failures = failures.map(|(object, why)| (object.to_string(), why.into())).collect();
        Some(Self { is_waiting, sentence, failures })
    }
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
