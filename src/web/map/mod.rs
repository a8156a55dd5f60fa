//! `/api/v1/operators/{operator}/map/...`: a parent, its children, what Kubernetes makes of them down to Pods and claims,
//! and the related objects, as a graph. It reads the dependants on demand, and caches nothing.
//!
//! ```text
//! board --> tree of the children, related objects --+
//!                                                   +--> graph (pure) --> JSON, page
//! API server --> Pods and claims ------------------+
//! ```
//!
//! Invariants:
//! - Every node but the parent has an edge, and no id occurs twice.
//! - Text that came from the cluster is redacted.

mod graph;
mod logs;

use actix_web::web::{Data, Json, Path, Query};
use serde::Deserialize;
use serde_json::Value;

#[cfg(feature = "dashboard")]
pub(super) use self::graph::Edge;
pub(super) use self::graph::Map;
#[cfg(feature = "mcp")]
pub(super) use self::graph::OwnerView;
#[cfg(any(feature = "dashboard", feature = "mcp"))]
pub(super) use self::graph::{MapNode, Relation, Role};
use self::{
    graph::{Sources, graph},
    logs::log_commands,
};
use super::{
    cache::find,
    endpoint::Parameter,
    explain::tree_of,
    parents::{ParentPath, cached_parent, conditions_of, known_parent},
    redact::Secrets,
    state::WebState,
    status::Refused,
    tree::{Node, Tree},
    views::{KeyView, TypeView},
};
use crate::{
    board::{Board, Depth, OperatorSnapshot, Owners, ParentState, Workload},
    object::{Object, ObjectKey},
    plan::ChildId,
};

/// A parent with its map.
pub(super) struct Mapped {
    pub(super) operator: OperatorSnapshot,
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(super) key: ObjectKey,
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(super) parent: ParentState,
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(super) secrets: Secrets,
    pub(super) map: Map,
}

#[derive(Debug, Deserialize)]
pub(super) struct OwnersQuery {
    owners: Option<String>,
}

pub(super) const OWNERS: Parameter = Parameter::text(
    "owners",
    "the id of an object of the map: who set which field of it, read from the API server now",
);

pub(super) async fn show(
    path: Path<ParentPath>,
    query: Query<OwnersQuery>,
    state: Data<WebState>,
) -> Result<Json<Map>, Refused> {
    let OwnersQuery { owners } = query.into_inner();
    Ok(Json(read(&state.board, &path, owners.as_deref()).await?))
}

/// The map, and who set which field of the object of this id.
pub(super) async fn read(
    board: &Board,
    path: &ParentPath,
    owners: Option<&str>,
) -> Result<Map, Refused> {
    let Mapped { operator, mut map, .. } = Mapped::at(board, path).await?;
    let Some(id) = owners else { return Ok(map) };
    let node = map.nodes.iter().find(|node| node.id == id);
    let unknown = || Refused::BadRequest(format!("owners: the map has no object `{id}`"));
    let (ty, key) = node.map(|node| (&node.ty, &node.key)).ok_or_else(unknown)?;
    match owners_of(board, operator.info.name.as_str(), ty, key).await {
        Ok(owners) => map.owners = Some(owners.into_iter().map(<_>::from).collect()),
        Err(why) => map.errors.push(why),
    }
    Ok(map)
}

/// Who set which field of an object, or why that is not known.
pub(super) async fn owners_of(
    board: &Board,
    operator: &str,
    ty: &TypeView,
    key: &KeyView,
) -> Owners {
    let key = ObjectKey::new(key.namespace.as_deref(), &key.name);
    let of = ChildId { ty: ty.k8s_type(), key };
    board.read_owners(operator, of).await.unwrap_or_else(|error| Err(error.to_string()))
}

impl Mapped {
    pub(super) async fn at(board: &Board, path: &ParentPath) -> Result<Self, Refused> {
        let (operator, key, parent) = known_parent(board, path)?;
        let name = operator.info.name.as_str();
        let object = cached_parent(board, &operator.info, &key, &parent.uid);
        let secrets = object.as_ref().map_or_else(Secrets::unknown, |it| Secrets::of(board, it));
        let tree = object.as_ref().map(|it| tree_of(board, &operator, it, &parent, <_>::default()));
        let Tree { nodes, omitted } = tree.unwrap_or_default();
        let of = workloads(board, &nodes);
        let dependants = if of.is_empty() {
            Vec::new()
        } else {
            // A process that stops answers nothing: what is known is shown.
            board.read_dependants(name, of, Depth::All).await.unwrap_or_default()
        };
        let mut map = graph(Sources {
            ty: &operator.info.config.parent,
            key: &key,
            phase: parent.phase,
            rollout: rollout(&conditions_of(board, object.as_ref())),
            children: nodes,
            omitted,
            related: board.related(name, &parent.uid),
            dependants,
            shown: &|text| secrets.text(text),
        });
        add_logs(board, &mut map);
        Ok(Self { operator, key, parent, secrets, map })
    }
}

/// The commands of the Pods that are children themselves.
fn add_logs(board: &Board, map: &mut Map) {
    let pods = map.nodes.iter_mut().filter(|node| node.ty.name == "pods" && node.logs.is_empty());
    for node in pods {
        let object = cached(board, &node.ty, &node.key);
        node.logs =
            object.map_or_else(Vec::new, |it| log_commands(it.ty(), it.key(), &it.to_value()));
    }
}

/// The objects among these that have Pods or claims.
fn workloads(board: &Board, nodes: &[Node]) -> Vec<Workload> {
    let mut found = Vec::new();
    for node in nodes {
        let object = node.facts.as_ref().and_then(|_| cached(board, &node.ty, &node.key));
        let workload = object.as_ref().map(Workload::of);
        found.extend(workload.filter(|it| it.selector.is_some() || !it.claims.is_empty()));
        found.extend(workloads(board, &node.children));
    }
    found
}

pub(super) fn cached(board: &Board, ty: &TypeView, key: &KeyView) -> Option<Object> {
    let key = ObjectKey::new(key.namespace.as_deref(), &key.name);
    find(board, &ty.name).ok()?.store.get(&key)
}

/// How far the rollouts of the parent are, from the condition that Operetta sets.
fn rollout(conditions: &Value) -> Option<String> {
    let mut conditions = conditions.as_array()?.iter();
    let is_it = |it: &&Value| {
        it["type"] == "Progressing"
            && (it["reason"] == "RollingOut" || it["reason"] == "RolloutStopped")
    };
    conditions.find(is_it)?["message"].as_str().map(str::to_owned)
}
