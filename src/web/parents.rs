//! `/api/v1/operators/{operator}/parents`: the state of each parent. [`explain`](super::explain) has
//! the details.

use std::sync::Arc;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    cache::key_of,
    endpoint::Parameter,
    members::{Item, Members, Order, Share, Spot},
    page::{Following, List, PageQuery},
    redact::redacted,
    state::WebState,
    status::Refused,
    views::{KeyView, PauseView},
};
use crate::{
    board::{
        Board, OperatorInfo, OperatorSnapshot, OperatorState, ParentFilter, ParentPage,
        ParentPhase, ParentState,
    },
    history::{NextWake, Reconcile},
    object::{Object, ObjectKey, Uid},
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
    /// Its own pause; absent if it is not paused, or only its operator is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pause: Option<PauseView>,
    /// The code that allows its deletions that are held; absent if none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<String>,
    /// How many reconciles failed in a row.
    failures: u32,
    /// When it is reconciled next without a trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_wake: Option<NextWake>,
    /// How many reconciles ended since the process started.
    reconciles: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_reconcile: Option<Arc<Reconcile>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ParentPath {
    pub(super) operator: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ParentQuery {
    namespace: Option<String>,
    phase: Option<String>,
    q: Option<String>,
}

pub(super) const PHASE: Parameter = Parameter::text(
    "phase",
    "only those in one of these phases, separated by commas: pending, running, ready, synced, \
              waiting, failing, stalled, finalizing, paused",
);

pub(super) const TEXT: Parameter =
    Parameter::text("q", "only those whose namespace/name contains this text, ignoring case");

impl ParentQuery {
    #[cfg(feature = "mcp")]
    pub(super) fn new(namespace: Option<&str>, phase: Option<&str>, text: Option<&str>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self { namespace: owned(namespace), phase: owned(phase), q: owned(text) }
    }

    pub(super) fn check(self) -> Result<ParentFilter, Refused> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let phases = given(self.phase).unwrap_or_default();
        let phases = phases.split(',').filter(|name| !name.is_empty()).map(phase);
        Ok(ParentFilter {
            namespace: given(self.namespace),
            phases: phases.collect::<Result<_, _>>()?,
            text: given(self.q),
        })
    }
}

fn phase(name: &str) -> Result<ParentPhase, Refused> {
    let found = ParentPhase::ALL.into_iter().find(|phase| phase.name() == name.trim());
    found.ok_or_else(|| {
        let names = ParentPhase::ALL.map(ParentPhase::name).join(", ");
        Refused::BadRequest(format!("phase: `{name}` is not one of {names}"))
    })
}

pub(super) async fn list(
    operator: Path<String>,
    query: Query<ParentQuery>,
    page: Query<PageQuery>,
    state: Data<WebState>,
    members: Members,
) -> Result<HttpResponse, Refused> {
    let (operator, filter) = (operator.into_inner(), query.into_inner().check()?);
    let wanted = page.check(format!("parents of {operator} {filter:?}"))?;
    let page = state.board.parents(&operator, &filter, wanted.after.as_ref(), wanted.limit);
    let own = share(page.ok_or(Refused::NoOperator(operator))?);
    if let Some(answer) = members.asks(&own) {
        return Ok(answer);
    }
    let (found, missing) = members.whole(own, Order::first(wanted.limit)).await;
    let Share { items, last, total, has_more } = found;
    let following =
        if has_more { wanted.following(items.len(), total) } else { Following::Nothing };
    let last = last.map(|spot| spot.key);
    let metadata = wanted.followed_by(last.as_ref(), items.len(), following).lacking(missing);
    let items = items.into_iter().map(|item| item.value).collect();
    Ok(HttpResponse::Ok().json(List { items, metadata }))
}

/// What this process has of a page, by key.
fn share(ParentPage { items, has_more, total }: ParentPage) -> Share<ParentView> {
    let spot = |key: &ObjectKey| Spot { rank: 0, key: key.clone(), operator: String::new() };
    let last = items.last().map(|(key, _)| spot(key));
    let items = items
        .iter()
        .map(|(key, state)| Item { spot: spot(key), value: ParentView::new(key, state) });
    Share { items: items.collect(), last, total, has_more }
}

pub(super) fn known_parent(
    board: &Board,
    path: &ParentPath,
) -> Result<(OperatorSnapshot, ObjectKey, ParentState), Refused> {
    let ParentPath { operator, namespace, name } = path;
    let known = board.operator(operator).ok_or_else(|| Refused::NoOperator(operator.clone()))?;
    let ty = &known.info.config.parent;
    let key = key_of(ty, namespace.as_deref(), name)?;
    let parent = parent_of(board, &known, &key)?;
    Ok((known, key, parent))
}

/// A parent of an operator. While the operator is not running, it may be only in the cache.
fn parent_of(
    board: &Board,
    operator: &OperatorSnapshot,
    key: &ObjectKey,
) -> Result<ParentState, Refused> {
    let OperatorSnapshot { info, state, .. } = operator;
    if let Some(parent) = board.parent(info.name.as_str(), key) {
        return Ok(parent);
    }
    let cache = board.type_state(&info.config.parent).map(|cache| cache.store);
    let waits = *state != OperatorState::Running;
    if let Some(object) = cache.as_ref().filter(|_| waits).and_then(|cache| cache.get(key)) {
        return Ok(ParentState::pending(object.uid().clone(), object.generation()));
    }
    let (operator, key) = (info.name.to_string(), key.clone());
    let reasons = Some(state.reasons().join("; ")).filter(|reasons| !reasons.is_empty());
    let undecodable = cache.and_then(|cache| cache.undecodable_at(&key));
    Err(match (undecodable, reasons) {
        (Some(object), _) => Refused::Undecodable(object),
        (None, Some(reasons)) => Refused::NoParentYet { operator, key, reasons },
        (None, None) => Refused::NoParent { operator, key },
    })
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

pub(super) fn conditions_of(board: &Board, parent: Option<&Object>) -> Value {
    let shown = parent.map(|parent| redacted(board, parent));
    let mut status = shown.and_then(|mut it| it.get_mut("status").map(Value::take));
    let status = status.get_or_insert_default();
    match status.get_mut("conditions").map(Value::take) {
        Some(conditions @ Value::Array(_)) => conditions,
        Some(_) | None => Value::Array(Vec::new()),
    }
}

impl ParentView {
    pub(super) fn new(key: &ObjectKey, state: &ParentState) -> Self {
        let ParentState {
            uid,
            generation,
            phase,
            history,
            next_wake,
            failures,
            message,
            flapping_summary: _,
            pause,
            approval,
            stage: _,
        } = state;
        Self {
            key: key.into(),
            uid: uid.to_string(),
            generation: *generation,
            phase: phase.name(),
            message: message.clone(),
            pause: pause.as_deref().map(PauseView::from),
            approval: approval.as_deref().map(str::to_owned),
            failures: *failures,
            next_wake: *next_wake,
            reconciles: history.recorded(),
            last_reconcile: history.last().cloned(),
        }
    }
}
