//! `/api/v1/operators/{operator}/parents/{namespace}/{name}`: where a parent stands and why, what its
//! last runs did and why they ran, and its children with all that belongs to them.

use std::{collections::HashMap, sync::Arc, time::SystemTime};

use actix_web::web::{Data, Json, Path, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    WebState,
    diff::{self, PreviewView},
    endpoint::{Form, Parameter},
    parents::{ParentPath, ParentView, cached_parent, conditions_of, known_parent},
    status::Refused,
    tree::{Node, Roots, Tree, tree},
    why::Facts,
};
use crate::{
    board::{Board, OperatorSnapshot, ParentState},
    history::Run,
    object::{Object, ObjectKey},
    plan::ChildId,
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
    /// Why it cannot be said what a run would do, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_error: Option<String>,
    /// How many objects more there are than are shown.
    children_omitted: usize,
    /// The last runs, the newest first.
    history: Vec<Arc<Run>>,
}

/// What a request may say about what it wants to know.
#[derive(Debug, Deserialize)]
pub(super) struct ExplainQuery {
    diff: Option<String>,
}

impl ExplainQuery {
    /// Whether it is to be said what a run would change.
    pub(super) fn is_preview(&self) -> bool {
        self.diff.is_some()
    }
}

pub(super) const DIFF: Parameter = Parameter {
    name: "diff",
    form: Form::Flag,
    meaning: "what a run would change: the handler is asked, and nothing is written",
};

pub(super) async fn show(
    path: Path<ParentPath>,
    query: Query<ExplainQuery>,
    state: Data<WebState>,
) -> Result<Json<ParentDetails>, Refused> {
    let board = &state.board;
    let (operator, key, parent) = known_parent(board, &path)?;
    let name = &operator.info.name;
    let (previews, error) = match query.diff {
        None => (HashMap::new(), None),
        Some(_) => match board.preview(name.as_str(), key.clone()).await {
            Ok(preview) => (diff::by_child(&preview, name), None),
            Err(error) => (HashMap::new(), Some(error.to_string())),
        },
    };
    let explained = explained(board, &operator, &key, &parent, previews);
    Ok(Json(ParentDetails { preview_error: error, ..explained }))
}

fn explained(
    board: &Board,
    operator: &OperatorSnapshot,
    key: &ObjectKey,
    parent: &ParentState,
    previews: HashMap<ChildId, PreviewView>,
) -> ParentDetails {
    let object = cached_parent(board, &operator.info, key, &parent.uid);
    let Tree { nodes, omitted, unready } = object
        .as_ref()
        .map(|object| grown(board, operator, object, parent, previews))
        .unwrap_or_default();
    let facts = Facts {
        state: &operator.state,
        paused: operator.paused.as_ref(),
        parent,
        unready: &unready,
        places: operator.info.config.max_concurrent_runs,
        now: SystemTime::now(),
    };
    ParentDetails {
        parent: ParentView::new(key, parent),
        why: facts.why(),
        conditions: conditions_of(object.as_ref()),
        children: nodes,
        preview_error: None,
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
    previews: HashMap<ChildId, PreviewView>,
) -> Tree {
    let caches: Vec<StoreReader> = board.types().into_iter().map(|cache| cache.store).collect();
    let last_run = parent.history.last().map(|run| &**run);
    tree(&Roots { info: &operator.info, parent: object, caches: &caches, last_run }, previews)
}
