//! `/api/v1/operators`: the registered operators and their states.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    members::{Answers, Census, Members, Missing},
    page::{List, ListMeta},
    state::WebState,
    status::Refused,
    views::{CacheView, OperatorView},
};
use crate::board::{Board, OperatorSnapshot};

/// One operator, with the caches that it uses.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OperatorDetails {
    #[serde(flatten)]
    operator: OperatorView,
    caches: Vec<CacheView>,
    /// The processes whose parents are not counted, where several share the parents; absent if all are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Missing>,
}

pub(super) async fn list(state: Data<WebState>, members: Members) -> HttpResponse {
    let mut operators = state.board.operators();
    if let Some(answer) = members.asks(&Census::of(&operators)) {
        return answer;
    }
    let metadata = ListMeta::default().lacking(counted(&members, &mut operators).await);
    let items = operators.iter().map(|one| view(&state.board, one)).collect();
    HttpResponse::Ok().json(List { items, metadata })
}

pub(super) async fn show(
    name: Path<String>,
    state: Data<WebState>,
    members: Members,
) -> Result<HttpResponse, Refused> {
    let name = name.into_inner();
    let mut operator = state.board.operator(&name).ok_or(Refused::NoOperator(name))?;
    if let Some(answer) = members.asks(&Census::of([&operator])) {
        return Ok(answer);
    }
    let missing = counted(&members, std::slice::from_mut(&mut operator)).await;
    let config = &operator.info.config;
    let types = [&config.parent].into_iter().chain(config.children.iter().map(|child| &child.ty));
    let caches = types.filter_map(|ty| state.board.type_state(ty));
    let now = SystemTime::now();
    let caches = caches.map(|ty| CacheView::new(&ty, now)).collect();
    let operator = view(&state.board, &operator);
    Ok(HttpResponse::Ok().json(OperatorDetails { operator, caches, missing }))
}

/// Counts the parents of all members, and returns the members whose parents are not counted.
async fn counted(members: &Members, operators: &mut [OperatorSnapshot]) -> Vec<Missing> {
    let Answers { shares, missing, .. } = members.shares::<Census>().await;
    for (member, census) in &shares {
        census.count_into(member, operators);
    }
    missing
}

fn view(board: &Board, operator: &OperatorSnapshot) -> OperatorView {
    let name = operator.info.name.as_str();
    let view = OperatorView::new(operator, board.queue(name), board.undeclared(name));
    view.unreachable(board.unreachable_since())
        .migrating(board.migration(&operator.info.config.parent))
}
