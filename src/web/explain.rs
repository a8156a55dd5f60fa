//! `/api/v1/operators/{operator}/parents/{namespace}/{name}`: where a parent stands and why, what its
//! last reconciles did and why they ran, and its children with all that belongs to them.

use std::{collections::HashMap, sync::Arc, time::SystemTime};

use actix_web::web::{Data, Json, Path, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    diff::{self, Comparing, PreviewView},
    endpoint::{Form, Parameter},
    kubernetes_events::{self, EventsView},
    parents::{ParentPath, ParentView, cached_parent, conditions_of, known_parent},
    redact::{Secrets, text},
    state::WebState,
    status::Refused,
    tree::{Node, Roots, Tree, tree},
    why::Facts,
};
use crate::{
    board::{Board, OperatorSnapshot, ParentState},
    history::Reconcile,
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
    /// Why it cannot be said what a reconcile would do, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_error: Option<String>,
    /// How many objects more there are than are shown.
    children_omitted: usize,
    /// What Kubernetes tells of it and its children, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<EventsView>,
    /// The last reconciles, the newest first.
    history: Vec<Arc<Reconcile>>,
}

/// What a request may say about what it wants to know.
#[derive(Debug, Deserialize)]
pub(super) struct ExplainQuery {
    diff: Option<String>,
    events: Option<String>,
}

/// A parent, and what was asked about it.
pub(super) struct Looked {
    pub(super) operator: OperatorSnapshot,
    pub(super) key: ObjectKey,
    pub(super) parent: ParentState,
    /// As it is cached.
    pub(super) object: Option<Object>,
    /// Those that its status shows.
    pub(super) conditions: Value,
    pub(super) tree: Tree,
    /// Why it cannot be said what a reconcile would do.
    pub(super) preview_error: Option<String>,
    pub(super) events: Option<EventsView>,
}

pub(super) const DIFF: Parameter = Parameter {
    name: "diff",
    form: Form::Flag,
    meaning: "what a reconcile would change: the handler is asked, and nothing is written",
};

pub(super) async fn show(
    path: Path<ParentPath>,
    query: Query<ExplainQuery>,
    state: Data<WebState>,
) -> Result<Json<ParentDetails>, Refused> {
    Ok(Json(Looked::at(&state.board, &path, &query).await?.into()))
}

impl ExplainQuery {
    /// Whether it is to be said what a reconcile would change.
    pub(super) fn is_preview(&self) -> bool {
        self.diff.is_some()
    }

    /// Whether what Kubernetes tells is to be read.
    pub(super) fn has_events(&self) -> bool {
        self.events.is_some()
    }
}

impl Looked {
    /// Looks at the parent that a path names, and asks whatever is wanted of it.
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
        let (previews, preview_error) = if query.is_preview() {
            match board.preview(name.as_str(), key.clone()).await {
                Ok(preview) => (diff::by_child(&preview, &comparing), None),
                Err(error) => (HashMap::new(), Some(error.to_string())),
            }
        } else {
            (HashMap::new(), None)
        };
        let tree = object.as_ref().map(|it| grown(board, &operator, it, &parent, previews));
        let tree = tree.unwrap_or_default();
        let events = if query.has_events() {
            let about = (&key, &parent.uid);
            let events = kubernetes_events::read(board, name.as_str(), about, &tree.nodes).await;
            Some(events.without(&secrets))
        } else {
            None
        };
        let conditions = conditions_of(board, object.as_ref());
        Ok(Self { operator, key, parent, object, conditions, tree, preview_error, events })
    }
}

impl From<Looked> for ParentDetails {
    fn from(looked: Looked) -> Self {
        let Looked { operator, key, parent, conditions, tree, preview_error, events, .. } = looked;
        let facts = Facts {
            state: &operator.state,
            paused: operator.paused.as_ref(),
            parent: &parent,
            unready: &tree.unready,
            places: operator.info.config.max_concurrent_reconciles,
            now: SystemTime::now(),
        };
        Self {
            why: facts.why(),
            parent: ParentView::new(&key, &parent),
            conditions,
            children: tree.nodes,
            preview_error,
            children_omitted: tree.omitted,
            events,
            history: parent.history.newest_first().cloned().collect(),
        }
    }
}

/// What belongs to a parent, as far as it is cached.
fn grown(
    board: &Board,
    operator: &OperatorSnapshot,
    object: &Object,
    parent: &ParentState,
    previews: HashMap<ChildId, PreviewView>,
) -> Tree {
    let caches: Vec<StoreReader> = board.types().into_iter().map(|cache| cache.store).collect();
    let last_reconcile = parent.history.last().map(|run| &**run);
    let tell = |about: &Object, said: &str| text(board, about, said);
    let roots = Roots {
        info: &operator.info,
        parent: object,
        caches: &caches,
        last_reconcile,
        tell: &tell,
    };
    tree(&roots, previews)
}
