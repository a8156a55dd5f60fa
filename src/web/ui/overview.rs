//! `/`: what needs attention, and a row for every operator.

use std::time::SystemTime;

use actix_web::{HttpRequest, HttpResponse, web::Data};
use askama::Template;
use serde::{Deserialize, Serialize};

use super::{
    attention::{self, Attention},
    frame::{self, Frame, Section},
    links,
    parts::{Bar, Mark, Part, count, counted, parts, size},
    sparks::Sparks,
    troubled::{self, Troubled},
};
use crate::{
    board::{Board, OperatorSnapshot},
    web::{
        accept,
        index::Index,
        members::{Answers, Census, Members},
        paths::Paths,
        state::WebState,
    },
};

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    sentence: String,
    health: Mark,
    caches: String,
    attention: Attention,
    operators: Vec<OperatorRow>,
}

struct OperatorRow {
    name: String,
    href: String,
    mark: Mark,
    kind: String,
    parents: String,
    bar: Bar,
    parts: Vec<Part>,
    sparks: Option<Sparks>,
}

/// What a process has of the page.
#[derive(Debug, Serialize, Deserialize)]
struct OverviewShare {
    operators: Census,
    troubled: Vec<Troubled>,
}

/// No event reports that an operator has become quiet.
const REFRESH: u32 = 15;

/// A page for browsers, a list of paths for others.
pub(super) async fn show(
    request: HttpRequest,
    state: Data<WebState>,
    paths: Data<Paths>,
    members: Members,
) -> HttpResponse {
    let (board, now) = (&state.board, SystemTime::now());
    if let Some(answer) = members.asks_for(|| OverviewShare::of(board, now)) {
        return answer;
    }
    if !accept::is_browser(request.headers()) {
        return HttpResponse::Ok().json(Index::new(&paths, None));
    }
    let answers = members.shares().await;
    frame::answer(&view(board, answers, now))
}

impl OverviewShare {
    fn of(board: &Board, now: SystemTime) -> Self {
        let operators = board.operators();
        Self { troubled: troubled::all(board, &operators, now), operators: Census::of(&operators) }
    }
}

fn view(board: &Board, answers: Answers<OverviewShare>, now: SystemTime) -> Overview {
    let mut operators = board.operators();
    let troubled = troubled::all(board, &operators, now);
    for (member, share) in &answers.shares {
        share.operators.count_into(member, &mut operators);
    }
    let frame = Frame::new("", Section::Operators, now).of(board).refreshed_every(REFRESH);
    let frame = frame.merged_from(&answers);
    let others = answers.into_shares().into_iter().map(|share| share.troubled);
    let troubled = troubled::joined(troubled, others.collect());
    let attention = attention::list(board, &operators, troubled, now);
    Overview {
        frame: frame.named(title(attention.total)),
        sentence: attention.sentence(&operators),
        health: health(board, &operators, attention.total),
        caches: caches(board),
        attention,
        operators: operators.iter().map(|it| OperatorRow::new(board, it)).collect(),
    }
}

/// The number is also visible on the browser's tab.
fn title(total: usize) -> String {
    if total == 0 { "Overview".to_owned() } else { format!("({}) Overview", count(total)) }
}

/// Green only where nothing needs attention.
fn health(board: &Board, operators: &[OperatorSnapshot], attention: usize) -> Mark {
    if board.is_stopping() {
        Mark::warn("stopping")
    } else if attention > 0 {
        Mark::warn("attention")
    } else if operators.iter().all(|operator| operator.state.is_settled()) {
        Mark::good("ready")
    } else {
        Mark::busy("starting")
    }
}

fn caches(board: &Board) -> String {
    let types = board.types();
    let objects = types.iter().map(|cache| cache.store.len()).sum();
    let bytes = types.iter().map(|cache| cache.store.bytes()).sum();
    let (types, objects) =
        (counted(types.len(), "type", "types"), counted(objects, "object", "objects"));
    format!("{types}, {objects}, {}", size(bytes))
}

impl OperatorRow {
    fn new(board: &Board, operator: &OperatorSnapshot) -> Self {
        let name = operator.info.name.as_str();
        let total = operator.parents.values().sum();
        Self {
            name: name.to_owned(),
            href: links::operator(name),
            mark: operator.into(),
            kind: operator.info.config.parent.kind().to_owned(),
            parents: counted(total, "parent", "parents"),
            bar: Bar::new(operator),
            parts: parts(name, &operator.parents),
            sparks: Sparks::of(&board.trend(name)),
        }
    }
}
