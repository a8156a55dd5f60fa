//! `/ui/operators/{operator}/namespaces/{namespace}`: its parents in one namespace, and nothing about others. For users
//! with permissions there alone.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use askama::Template;

use super::{
    frame::{self, Frame, NoPage, Section},
    links,
    parent_list::{ListQuery, ListShare, ParentList},
    parts::Mark,
};
use crate::{
    board::{Board, OperatorSnapshot},
    object::K8sType,
    recipes::NameRule,
    web::{members::Members, state::WebState, status::Refused},
};

#[derive(Template)]
#[template(path = "namespace.html")]
struct View {
    frame: Frame,
    name: String,
    namespace: String,
    kind: String,
    mark: Mark,
    activity: String,
    list: ParentList,
}

pub(super) async fn show(
    path: Path<(String, String)>,
    query: Query<ListQuery>,
    state: Data<WebState>,
    members: Members,
) -> Result<HttpResponse, NoPage> {
    let ((name, namespace), query) = (path.into_inner(), query.into_inner());
    let (operator, own) = own(&state.board, (&name, &namespace), &query)?;
    if let Some(answer) = members.asks(&own) {
        return Ok(answer);
    }
    let (answers, now) = (members.shares().await, SystemTime::now());
    let frame = Frame::new(&namespace, Section::Operators, now)
        .of(&state.board)
        .listening_in(&name, &namespace)
        .merged_from(&answers);
    let list = own.with(answers.into_shares(), &query);
    Ok(frame::answer(&View {
        frame,
        kind: operator.info.config.parent.kind().to_owned(),
        mark: (&operator).into(),
        activity: links::activity(&name, &namespace),
        list: ParentList::new(list, (&name, Some(&*namespace)), query, now),
        name,
        namespace,
    }))
}

/// What this process shows of the page.
fn own(
    board: &Board,
    (name, namespace): (&str, &str),
    query: &ListQuery,
) -> Result<(OperatorSnapshot, ListShare), Refused> {
    let no_operator = || Refused::NoOperator(name.to_owned());
    let operator = board.operator(name).ok_or_else(no_operator)?;
    check(&operator.info.config.parent, namespace)?;
    let list = ListShare::of(board, (name, Some(namespace)), query)?;
    Ok((operator, list.ok_or_else(no_operator)?))
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
