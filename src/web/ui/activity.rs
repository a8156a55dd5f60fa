//! `/ui/activity`: what happened, over all operators, the newest first.

use std::time::SystemTime;

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    web::{Data, Query, block},
};
use askama::{Template, filters::HtmlSafe};
use serde::Deserialize;

use super::{
    frame::{self, Frame, NoPage, Section},
    links,
    parts::{Link, Mark, Prose, count, counted},
    time::{self, Moment, took},
};
use crate::{
    board::{ActivityKind, ActivityPage, Board, Line},
    history::Decided,
    object::ObjectKey,
    web::{
        activity::{self, ActivityQuery},
        standing::Standing,
        state::WebState,
        status::Refused,
    },
};

#[derive(Debug, Default, Deserialize)]
pub(in crate::web) struct PageQuery {
    #[serde(default)]
    r#continue: String,
}

#[derive(Template)]
#[template(path = "activity.html")]
struct View {
    frame: Frame,
    query: ActivityQuery,
    /// Absent for users who may see one namespace only.
    operators: Option<Vec<Choice>>,
    kinds: Vec<Choice>,
    spans: Vec<Choice>,
    shown: String,
    /// The process that remembers this, where several share the parents.
    member: Option<String>,
    days: Vec<Day>,
    dropped: Vec<String>,
    first: Option<String>,
    next: Option<String>,
}

/// A value that a filter can have.
#[derive(Debug, Template)]
#[template(
    source = r#"<option value="{{ value }}"{% if is_selected %} selected{% endif %}>{{ words }}</option>"#,
    ext = "html"
)]
struct Choice {
    value: String,
    words: String,
    is_selected: bool,
}

impl HtmlSafe for Choice {}

/// The entries of one day in UTC.
struct Day {
    date: String,
    rows: Vec<Row>,
}

struct Row {
    key: u64,
    mark: Mark,
    time: Moment,
    operators: String,
    text: Prose,
    /// How often and how long, if it happened more than once.
    times: Option<String>,
    parents: Vec<Link>,
    more: usize,
}

const ROWS: usize = 100;
/// No event reports denials.
const REFRESH: u32 = 15;
/// The spans that can be chosen, with their words.
const SPANS: [(&str, &str); 4] =
    [("5m", "5 minutes"), ("1h", "1 hour"), ("1d", "1 day"), ("7d", "7 days")];

pub(super) async fn show(
    request: HttpRequest,
    query: Query<ActivityQuery>,
    page: Query<PageQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let (query, now) = (query.into_inner(), SystemTime::now());
    let filter = query.check(now)?;
    let token = Some(&*page.r#continue).filter(|token| !token.is_empty());
    let before = token.map(activity::position).transpose()?;
    let board = state.board.clone();
    // Folding everything must not block other requests.
    let found = block(move || board.activity(&filter, before, ROWS)).await;
    let found = found.map_err(|_| Refused::Stopping)?;
    let is_limited = request.extensions().get::<Standing>().is_some_and(Standing::is_limited);
    let view = View {
        first: before.map(|_| at(&query, "")),
        ..view(&state.board, query, &found, is_limited, now)
    };
    Ok(frame::answer(&view))
}

fn view(
    board: &Board,
    query: ActivityQuery,
    found: &ActivityPage,
    is_limited: bool,
    now: SystemTime,
) -> View {
    let last = found.lines.last().filter(|_| found.remaining > 0);
    let frame = Frame::new("Activity", Section::Activity, now).of(board);
    let frame = match (&*query.operator, &*query.namespace) {
        ("", _) => frame,
        (operator, "") if board.operator(operator).is_some() => frame.listening_to(operator, None),
        (operator, namespace) if board.operator(operator).is_some() => {
            frame.listening_in(operator, namespace)
        }
        // It is gone: nothing will happen to it.
        _ => frame.still_if(true),
    };
    View {
        frame: frame.refreshed_every(REFRESH),
        operators: (!is_limited).then(|| names(board, &query.operator)),
        kinds: choices(
            "all",
            &query.kind,
            ActivityKind::ALL.map(|kind| (kind.name(), kind.name())),
        ),
        spans: choices("all that is kept", &query.since, SPANS),
        shown: shown(found.lines.len(), found.total),
        member: board.group().map(|group| group.member),
        days: days(&found.lines, now),
        dropped: found.dropped.iter().map(|one| activity::dropped(*one)).collect(),
        first: None,
        next: last.map(|last| at(&query, &last.number.to_string())),
        query,
    }
}

fn names(board: &Board, selected: &str) -> Vec<Choice> {
    let operators = board.operators();
    let names = operators.iter().map(|operator| operator.name().as_str());
    choices("all", selected, names.map(|name| (name, name)))
}

/// The possible values with their words, also the selected one if it is none of them.
fn choices<'a>(
    all: &'a str,
    selected: &'a str,
    values: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<Choice> {
    let mut values: Vec<(&str, &str)> = [("", all)].into_iter().chain(values).collect();
    if !values.iter().any(|(value, _)| *value == selected) {
        values.push((selected, selected));
    }
    let choice = |(value, words): (&str, &str)| Choice {
        value: value.to_owned(),
        words: words.to_owned(),
        is_selected: value == selected,
    };
    values.into_iter().map(choice).collect()
}

fn at(query: &ActivityQuery, number: &str) -> String {
    let ActivityQuery { operator, namespace, kind, q, since } = query;
    let query = links::query(&[
        ("operator", operator),
        ("namespace", namespace),
        ("kind", kind),
        ("q", q),
        ("since", since),
        ("continue", number),
    ]);
    format!("/ui/activity{query}")
}

fn shown(rows: usize, total: usize) -> String {
    match rows {
        0 => "Nothing is recorded that matches.".to_owned(),
        _ if rows == total => counted(rows, "entry", "entries"),
        _ => format!("{rows} of {} entries", count(total)),
    }
}

fn days(lines: &[Line], now: SystemTime) -> Vec<Day> {
    let mut days: Vec<Day> = Vec::new();
    for line in lines {
        let date = time::exact(line.last).chars().take_while(|letter| *letter != 'T').collect();
        match days.last_mut().filter(|day| day.date == date) {
            Some(day) => day.rows.push(Row::new(line, now)),
            None => days.push(Day { date, rows: vec![Row::new(line, now)] }),
        }
    }
    days
}

impl Row {
    fn new(line: &Line, now: SystemTime) -> Self {
        Self {
            key: line.began,
            mark: mark(line.kind),
            time: Moment::past(line.last, now),
            operators: operators(line),
            text: Prose::from(frame::sentence(&activity::sentence(line))),
            times: (line.times > 1).then(|| times(line)),
            parents: parents(line),
            more: line.parents.more(),
        }
    }
}

/// Links to the parents of one operator.
fn parents(line: &Line) -> Vec<Link> {
    let Some(operator) = line.operators.kept.first() else { return Vec::new() };
    let to_parent = |key: &ObjectKey| Link {
        text: key.to_string(),
        href: links::parent(operator.as_str(), key),
    };
    line.parents.kept.iter().map(to_parent).collect()
}

fn operators(line: &Line) -> String {
    let names: Vec<String> = line.operators.kept.iter().take(3).map(ToString::to_string).collect();
    let more = line.operators.count - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// Several entries, and in how long.
fn times(line: &Line) -> String {
    let span = line.last.duration_since(line.first).unwrap_or_default();
    format!("×{} in {}", count(usize::try_from(line.times).unwrap_or(usize::MAX)), took(span))
}

fn mark(kind: ActivityKind) -> Mark {
    match kind {
        ActivityKind::Created => Decided::Created.into(),
        ActivityKind::Adopted => Decided::Adopted.into(),
        ActivityKind::Updated => Decided::Updated.into(),
        ActivityKind::Recreated => Decided::Recreated.into(),
        ActivityKind::Deleted => Decided::Deleted.into(),
        ActivityKind::Repaired => Mark::warn("repaired"),
        ActivityKind::Held => Decided::Held.into(),
        ActivityKind::Allowed => Mark::warn("allowed"),
        ActivityKind::Released => Mark::warn("released"),
        ActivityKind::Failing => Mark::bad("failing"),
        ActivityKind::Recovered => Mark::good("recovered"),
        ActivityKind::Paused => Mark::paused("paused"),
        ActivityKind::Resumed => Mark::good("resumed"),
        ActivityKind::Leader => Mark::plain("leader"),
        ActivityKind::Registered => Mark::plain("registered"),
        ActivityKind::Unregistered => Mark::terminating("unregistered"),
        ActivityKind::Denied => Mark::warn("denied"),
        ActivityKind::Rejected => Mark::warn("rejected"),
    }
}
