//! `/api/v1/operators/{operator}/parents/{namespace}/{name}`: the state of a parent with an
//! explanation, its last reconciles with their triggers, and its children with their objects.

use std::{collections::HashMap, sync::Arc};

use actix_web::web::{Data, Json, Path, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    deeper,
    diff::{self, Comparing, PreviewView},
    endpoint::Parameter,
    kubernetes_events::{self, EventsView},
    parents::{ParentPath, ParentView, cached_parent, conditions_of, known_parent},
    redact::{Secrets, text},
    related::{self, RelatedView},
    state::WebState,
    status::Refused,
    switch::Switch,
    tree::{Node, Roots, Tree, tree},
    why::{Facts, ending, of_process, standby, with_those_above},
};
use crate::{
    board::{Board, OperatorSnapshot, ParentState},
    history::{Problem, Reconcile},
    object::{Object, ObjectKey},
    plan::ChildId,
    store::StoreReader,
};

/// A parent with all details.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ParentDetails {
    #[serde(flatten)]
    parent: ParentView,
    /// The worst problem: what, why, and what cures it; without an action if all is well.
    why: Problem,
    /// The other problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_problems: Vec<Problem>,
    /// The conditions in its status.
    conditions: Value,
    /// Its cached children with their objects, and missing children.
    children: Vec<Node>,
    /// The related objects that it reads and does not own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedView>,
    /// Why the requested preview failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_error: Option<String>,
    /// How many further objects are not shown.
    children_omitted: usize,
    /// The requested Events about it and its children.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<EventsView>,
    /// The last reconciles, newest first.
    history: Vec<Arc<Reconcile>>,
}

/// The optional parts of the answer.
#[derive(Debug, Deserialize)]
pub(super) struct ExplainQuery {
    #[serde(default)]
    pub(super) diff: Switch,
    #[serde(default)]
    pub(super) events: Switch,
}

pub(super) struct Explained {
    #[cfg_attr(
        not(any(feature = "dashboard", feature = "mcp")),
        expect(dead_code, reason = "for the page and `mcp`")
    )]
    pub(super) operator: OperatorSnapshot,
    pub(super) key: ObjectKey,
    pub(super) parent: ParentState,
    pub(super) conditions: Value,
    pub(super) tree: Tree,
    pub(super) related: Vec<RelatedView>,
    pub(super) preview_error: Option<String>,
    pub(super) events: Option<EventsView>,
    /// The worst first; never empty.
    pub(super) problems: Vec<Problem>,
}

pub(super) const DIFF: Parameter = Parameter::switch(
    "diff",
    "what a reconcile would change: the handler is called, and nothing is written",
);

pub(super) async fn show(
    path: Path<ParentPath>,
    query: Query<ExplainQuery>,
    state: Data<WebState>,
) -> Result<Json<ParentDetails>, Refused> {
    Ok(Json(Explained::at(&state.board, &path, &query).await?.into()))
}

impl Explained {
    pub(super) async fn at(
        board: &Board,
        path: &ParentPath,
        query: &ExplainQuery,
    ) -> Result<Self, Refused> {
        let (operator, key, parent) = known_parent(board, path)?;
        let name = &operator.info.name;
        let object = cached_parent(board, &operator.info, &key, &parent.uid);
        let secrets = object.as_ref().map_or_else(Secrets::unknown, |it| Secrets::of(board, it));
        let comparing = Comparing { board, operator: name, secrets: &secrets };
        let (previews, preview_error) = if query.diff.0 {
            match board.preview(name.as_str(), key.clone()).await {
                Ok(preview) => (diff::by_child(&preview, &comparing), None),
                Err(error) => (HashMap::new(), Some(error.to_string())),
            }
        } else {
            (HashMap::new(), None)
        };
        let tree = object.as_ref().map(|it| tree_of(board, &operator, it, &parent, previews));
        let tree = tree.unwrap_or_default();
        let events = if query.events.0 {
            let about = (&key, &parent.uid);
            let events = kubernetes_events::read(board, name.as_str(), about, &tree.nodes).await;
            Some(events.without(&secrets))
        } else {
            None
        };
        let conditions = conditions_of(board, object.as_ref());
        let related = related::of_parent(board, operator.info.name.as_str(), &parent.uid);
        let problems = why(&operator, &key, &parent);
        let id = ChildId { ty: operator.info.config.parent.clone(), key: key.clone() };
        let problems =
            deeper::look(board, operator.info.name.as_str(), &id, &secrets, problems).await;
        let mut above = of_process(board);
        above.extend(standby(&operator));
        above.extend(object.iter().flat_map(|it| ending(it, &operator)));
        let problems = with_those_above(above, problems);
        Ok(Self {
            operator,
            key,
            parent,
            conditions,
            tree,
            related,
            preview_error,
            events,
            problems,
        })
    }
}

impl From<Explained> for ParentDetails {
    fn from(explained: Explained) -> Self {
        let Explained { key, parent, conditions, tree, related, preview_error, .. } = explained;
        let (events, mut problems) = (explained.events, explained.problems.into_iter());
        Self {
            why: problems.next().unwrap_or_default(),
            other_problems: problems.collect(),
            parent: ParentView::new(&key, &parent),
            conditions,
            children: tree.nodes,
            related,
            preview_error,
            children_omitted: tree.omitted,
            events,
            history: parent.history.newest_first().cloned().collect(),
        }
    }
}

/// What is wrong with a parent, the worst first; never empty. What its children depend on is not read.
pub(super) fn why(
    operator: &OperatorSnapshot,
    key: &ObjectKey,
    parent: &ParentState,
) -> Vec<Problem> {
    Facts { operator, key, parent }.why()
}

/// The cached children of a parent with their objects.
pub(super) fn tree_of(
    board: &Board,
    operator: &OperatorSnapshot,
    object: &Object,
    parent: &ParentState,
    previews: HashMap<ChildId, PreviewView>,
) -> Tree {
    let caches: Vec<StoreReader> = board.types().into_iter().map(|cache| cache.store).collect();
    let last_reconcile = parent.history.last().map(|reconcile| &**reconcile);
    let redact = |about: &Object, message: &str| text(board, about, message);
    let roots = Roots {
        info: &operator.info,
        parent: object,
        caches: &caches,
        last_reconcile,
        redact: &redact,
    };
    tree(&roots, previews)
}
