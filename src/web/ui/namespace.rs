//! `/ui/operators/{operator}/namespaces/{namespace}`: its parents in one namespace, and nothing about others. For users
//! with permissions there alone.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use askama::Template;
use serde::Deserialize;

use super::{
    frame::{self, Frame, NoPage, Section},
    links,
    parent_row::ParentRow,
    parts::{Mark, counted},
};
use crate::{
    board::Board,
    object::{K8sType, ObjectKey},
    recipes::NameRule,
    web::{state::WebState, status::Refused},
};

#[derive(Debug, Default, Deserialize)]
pub(in crate::web) struct PageQuery {
    #[serde(default)]
    r#continue: String,
}

#[derive(Template)]
#[template(path = "namespace.html")]
struct View {
    frame: Frame,
    name: String,
    namespace: String,
    kind: String,
    mark: Mark,
    shown: String,
    activity: String,
    rows: Vec<ParentRow>,
    first: Option<String>,
    next: Option<String>,
}

const ROWS: usize = 100;

pub(super) async fn show(
    path: Path<(String, String)>,
    query: Query<PageQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let (name, namespace) = path.into_inner();
    Ok(frame::answer(&view(&state.board, &name, namespace, &query, SystemTime::now())?))
}

fn view(
    board: &Board,
    name: &str,
    namespace: String,
    query: &PageQuery,
    now: SystemTime,
) -> Result<View, Refused> {
    let no_operator = || Refused::NoOperator(name.to_owned());
    let operator = board.operator(name).ok_or_else(no_operator)?;
    check(&operator.info.config.parent, &namespace)?;
    let after = links::after(&query.r#continue)?;
    let is_here = |key: &ObjectKey| key.namespace.as_deref() == Some(&*namespace);
    let found = board.select(name, after.as_ref(), ROWS, |key, _| is_here(key));
    let found = found.ok_or_else(no_operator)?;
    let last = found.items.last().map(|(key, _)| key.to_string());
    let here = links::in_namespace(name, &namespace);
    let at = |last: &str| format!("{here}{}", links::query(&[("continue", last)]));
    Ok(View {
        frame: Frame::new(&namespace, Section::Operators, now)
            .of(board)
            .listening_in(name, &namespace),
        name: name.to_owned(),
        kind: operator.info.config.parent.kind().to_owned(),
        mark: (&operator).into(),
        activity: links::activity(name, &namespace),
        shown: counted(found.chosen, "parent", "parents"),
        rows: found
            .items
            .iter()
            .map(|(key, state)| ParentRow::new(name, key, state, now))
            .collect(),
        first: after.map(|_| at("")),
        next: last.filter(|_| found.remaining > 0).map(|last| at(&last)),
        namespace,
    })
}

/// Whether there may be such a namespace, and parents in it.
fn check(parent: &K8sType, namespace: &str) -> Result<(), Refused> {
    if !parent.is_namespaced() {
        return Err(Refused::NamespaceForbidden(parent.clone()));
    }
    let is_name = NameRule::Label.fit(namespace) == namespace;
    let why = || Refused::BadRequest(format!("namespace: `{namespace}` is no name of a namespace"));
    is_name.then_some(()).ok_or_else(why)
}
