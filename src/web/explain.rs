//! `/api/v1/operators/{operator}/parents/{namespace}/{name}`: where a parent stands and why, what its
//! last runs did and why they ran, and its children with all that belongs to them.

use std::{sync::Arc, time::SystemTime};

use actix_web::web::{Data, Json, Path};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    WebState,
    parents::{ParentPath, ParentView, cached_parent, conditions_of, known_parent},
    status::Refused,
    tree::{Node, Roots, Tree, tree},
    why::Facts,
};
use crate::{
    board::{Board, OperatorSnapshot, ParentState},
    history::Run,
    object::{Object, ObjectKey},
    store::StoreReader,
};

/// A parent with all that is known.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ParentDetails {
    #[serde(flatten)]
    parent: ParentView,
    /// Where it stands, what it is stuck on and what to do, in a sentence or two.
    why: String,
    /// The conditions that its status shows now.
    conditions: Value,
    /// What belongs to it, as far as it is cached, and what is missing.
    children: Vec<Node>,
    /// How many objects more there are than are shown.
    children_omitted: usize,
    /// The last runs, the newest first.
    history: Vec<Arc<Run>>,
}

pub(super) async fn show(
    path: Path<ParentPath>,
    state: Data<WebState>,
) -> Result<Json<ParentDetails>, Refused> {
    let (operator, key, parent) = known_parent(&state.board, &path)?;
    Ok(Json(explained(&state.board, &operator, &key, &parent, SystemTime::now())))
}

fn explained(
    board: &Board,
    operator: &OperatorSnapshot,
    key: &ObjectKey,
    parent: &ParentState,
    now: SystemTime,
) -> ParentDetails {
    let object = cached_parent(board, &operator.info, key, &parent.uid);
    let Tree { nodes, omitted, unready } =
        object.as_ref().map(|object| grown(board, operator, object, parent)).unwrap_or_default();
    let facts = Facts {
        state: &operator.state,
        paused: operator.paused.as_ref(),
        parent,
        unready: &unready,
        places: operator.info.config.max_concurrent_runs,
        now,
    };
    ParentDetails {
        parent: ParentView::new(key, parent),
        why: facts.why(),
        conditions: conditions_of(object.as_ref()),
        children: nodes,
        children_omitted: omitted,
        history: parent.history.newest_first().cloned().collect(),
    }
}

/// What belongs to a parent, as far as it is cached.
pub(super) fn grown(
    board: &Board,
    operator: &OperatorSnapshot,
    object: &Object,
    parent: &ParentState,
) -> Tree {
    let caches: Vec<StoreReader> = board.types().into_iter().map(|cache| cache.store).collect();
    let last_run = parent.history.last().map(|run| &**run);
    tree(&Roots { info: &operator.info, parent: object, caches: &caches, last_run })
}
