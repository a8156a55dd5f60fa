//! `/api/v1/operators/{operator}/parents`: how each parent stands, and why.

use std::sync::Arc;

use actix_web::web::{Data, Json, Path, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    WebState,
    cache::{key_of, left_out},
    page::{List, ListMeta, PageQuery},
    status::Refused,
    views::{KeyView, ObjectView, TypeView},
};
use crate::{
    board::{Board, OperatorInfo, OperatorSnapshot, ParentState},
    history::{NextWake, Run},
    object::{Object, ObjectKey, Uid},
    plan::is_ours,
};

/// A parent in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Parent")]
pub(super) struct ParentView {
    #[serde(flatten)]
    key: KeyView,
    uid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<i64>,
    phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// How many runs in a row failed.
    failures: u32,
    /// When it runs again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_wake: Option<NextWake>,
    /// How many runs there were since the process started.
    runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run: Option<Arc<Run>>,
}

/// A parent with all that is known.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ParentDetails {
    #[serde(flatten)]
    parent: ParentView,
    /// The conditions that its status shows now.
    conditions: Value,
    children: Vec<ChildView>,
    /// The last runs, the newest first.
    history: Vec<Arc<Run>>,
}

/// A cached object that names the parent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Child")]
struct ChildView {
    #[serde(flatten)]
    ty: TypeView,
    #[serde(flatten)]
    object: ObjectView,
    /// Whether it is the parent's; else it only says so by a label.
    owned: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct ParentPath {
    operator: String,
    namespace: Option<String>,
    name: String,
}

pub(super) async fn list(
    operator: Path<String>,
    query: Query<PageQuery>,
    state: Data<WebState>,
) -> Result<Json<List<ParentView>>, Refused> {
    let (operator, wanted) = (operator.into_inner(), query.check()?);
    let page = state.board.parents(&operator, wanted.after.as_ref(), wanted.limit);
    let page = page.ok_or(Refused::NoOperator(operator))?;
    let metadata = ListMeta::new(page.items.last().map(|(key, _)| key), page.remaining);
    let items = page.items.iter().map(|(key, state)| ParentView::new(key, state)).collect();
    Ok(Json(List { items, metadata }))
}

pub(super) async fn show(
    path: Path<ParentPath>,
    state: Data<WebState>,
) -> Result<Json<ParentDetails>, Refused> {
    let (OperatorSnapshot { info, .. }, key, parent) = known_parent(&state.board, &path)?;
    let cached = cached_parent(&state.board, &info, &key, &parent.uid);
    Ok(Json(ParentDetails {
        parent: ParentView::new(&key, &parent),
        conditions: conditions_of(cached.as_ref()),
        children: cached.map(|cached| children(&state.board, &info, &cached)).unwrap_or_default(),
        history: parent.history.newest_first().cloned().collect(),
    }))
}

/// The parent that a path names, and who answers for it.
pub(super) fn known_parent(
    board: &Board,
    path: &ParentPath,
) -> Result<(OperatorSnapshot, ObjectKey, ParentState), Refused> {
    let ParentPath { operator, namespace, name } = path;
    let known = board.operator(operator).ok_or_else(|| Refused::NoOperator(operator.clone()))?;
    let ty = &known.info.config.parent;
    let key = key_of(ty, namespace.as_deref(), name)?;
    let Some(parent) = board.parent(operator, &key) else {
        let why = board.type_state(ty).and_then(|cache| left_out(&cache.store, &key));
        return Err(why.unwrap_or(Refused::NoParent { operator: operator.clone(), key }));
    };
    Ok((known, key, parent))
}

pub(super) fn cached_parent(
    board: &Board,
    info: &OperatorInfo,
    key: &ObjectKey,
    uid: &Uid,
) -> Option<Object> {
    let cache = board.type_state(&info.config.parent);
    cache.and_then(|cache| cache.store.get(key)).filter(|parent| parent.uid() == uid)
}

/// The conditions that its status shows.
pub(super) fn conditions_of(parent: Option<&Object>) -> Value {
    let mut status = parent.and_then(|parent| parent.field("status")).unwrap_or_default();
    match status.get_mut("conditions").map(Value::take) {
        Some(conditions @ Value::Array(_)) => conditions,
        Some(_) | None => Value::Array(Vec::new()),
    }
}

fn children(board: &Board, info: &OperatorInfo, parent: &Object) -> Vec<ChildView> {
    let view = |(child, owned): &(Object, bool)| ChildView {
        ty: child.ty().into(),
        object: child.into(),
        owned: *owned,
    };
    children_of(board, info, parent).iter().map(view).collect()
}

/// What names the parent, by type and key, and whether it is the parent's.
pub(super) fn children_of(
    board: &Board,
    info: &OperatorInfo,
    parent: &Object,
) -> Vec<(Object, bool)> {
    let caches = info.config.children.iter().filter_map(|child| board.type_state(&child.ty));
    let mut children: Vec<Object> =
        caches.flat_map(|cache| cache.store.of_parent(parent.uid())).collect();
    children.sort_by(|a, b| (a.ty(), a.key()).cmp(&(b.ty(), b.key())));
    let is_ours = |child: &Object| is_ours(&info.config, &info.name, parent, child);
    children.into_iter().map(|child| (child.clone(), is_ours(&child))).collect()
}

impl ParentView {
    fn new(key: &ObjectKey, state: &ParentState) -> Self {
        let ParentState { uid, generation, phase, history, next_wake, failures, message } = state;
        Self {
            key: key.into(),
            uid: uid.to_string(),
            generation: *generation,
            phase: phase.name(),
            message: message.clone(),
            failures: *failures,
            next_wake: *next_wake,
            runs: history.recorded(),
            last_run: history.last().cloned(),
        }
    }
}
