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
    parent_list::{ListQuery, ParentList},
    parts::Mark,
};
use crate::{
    board::Board,
    object::K8sType,
    recipes::NameRule,
    web::{state::WebState, status::Refused},
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
) -> Result<HttpResponse, NoPage> {
    let (name, namespace) = path.into_inner();
    Ok(frame::answer(&view(&state.board, &name, namespace, query.into_inner(), SystemTime::now())?))
}

fn view(
    board: &Board,
    name: &str,
    namespace: String,
    query: ListQuery,
    now: SystemTime,
) -> Result<View, Refused> {
    let no_operator = || Refused::NoOperator(name.to_owned());
    let operator = board.operator(name).ok_or_else(no_operator)?;
    check(&operator.info.config.parent, &namespace)?;
    let list = ParentList::of(board, (name, Some(&*namespace)), query, now)?;
    Ok(View {
        frame: Frame::new(&namespace, Section::Operators, now)
            .of(board)
            .listening_in(name, &namespace),
        name: name.to_owned(),
        kind: operator.info.config.parent.kind().to_owned(),
        mark: (&operator).into(),
        activity: links::activity(name, &namespace),
        list: list.ok_or_else(no_operator)?,
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
