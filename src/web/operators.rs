//! `/api/v1/operators`: the registered operators and their states.

use std::time::SystemTime;

use actix_web::web::{Data, Json, Path};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
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
}

pub(super) async fn list(state: Data<WebState>) -> Json<List<OperatorView>> {
    let items = state.board.operators().iter().map(|one| view(&state.board, one)).collect();
    Json(List { items, metadata: ListMeta::default() })
}

pub(super) async fn show(
    name: Path<String>,
    state: Data<WebState>,
) -> Result<Json<OperatorDetails>, Refused> {
    let name = name.into_inner();
    let operator = state.board.operator(&name).ok_or(Refused::NoOperator(name))?;
    let config = &operator.info.config;
    let types = [&config.parent].into_iter().chain(config.children.iter().map(|child| &child.ty));
    let caches = types.filter_map(|ty| state.board.type_state(ty));
    let now = SystemTime::now();
    let caches = caches.map(|ty| CacheView::new(&ty, now)).collect();
    Ok(Json(OperatorDetails { operator: view(&state.board, &operator), caches }))
}

fn view(board: &Board, operator: &OperatorSnapshot) -> OperatorView {
    let name = operator.info.name.as_str();
    let view = OperatorView::new(operator, board.queue(name), board.undeclared(name));
    view.unreachable(board.unreachable_since())
        .migrating(board.migration(&operator.info.config.parent))
}
