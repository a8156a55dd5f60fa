//! The graph of a parent, from the tree of its children and what was read of their dependants. Pure.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::logs::log_commands;
use crate::{
    board::{Dependants, ParentPhase},
    history::Decision,
    object::{FieldOwner, K8sType, KeptManagers, Object, ObjectKey, Readiness, claims_of},
    plan::ChildId,
    related::ShownRead,
    web::{
        tree::Node,
        views::{KeyView, TypeView},
    },
};

/// A parent and the objects around it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::web) struct Map {
    /// The parent first.
    pub(in crate::web) nodes: Vec<MapNode>,
    pub(in crate::web) edges: Vec<Edge>,
    /// How many further children are not shown.
    pub(in crate::web) omitted: usize,
    /// Who set which field of the object that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) owners: Option<Vec<OwnerView>>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::web) errors: Vec<String>,
}

/// What a field manager owns of an object.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FieldOwner")]
pub(in crate::web) struct OwnerView {
    pub(in crate::web) manager: String,
    /// `Apply` or `Update`.
    pub(in crate::web) operation: String,
    /// `status`, `scale`; absent for the object itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::web) subresource: String,
    /// When it last wrote.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::web) time: String,
    /// The paths in the form of the API server's conflicts.
    pub(in crate::web) fields: Vec<String>,
    /// How many further fields it owns.
    pub(in crate::web) omitted: usize,
}

/// An object of the map.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::web) struct MapNode {
    /// `type/namespace/name`; of related objects what is asked for.
    pub(in crate::web) id: String,
    pub(in crate::web) role: Role,
    #[serde(flatten)]
    pub(in crate::web) ty: TypeView,
    #[serde(flatten)]
    pub(in crate::web) key: KeyView,
    /// The phase of the parent, the readiness of the others, `Selection` of related objects that are selected by labels.
    pub(in crate::web) state: &'static str,
    /// Why it is not ready, or how far it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::web) message: String,
    /// The decision of the last reconcile about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) decision: Option<Decision>,
    /// The field manager that changed it after the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) changed_by: Option<String>,
    /// The commands that show the logs of its containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::web) logs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) uid: Option<String>,
}

/// What an object is to the parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::web) enum Role {
    Parent,
    Child,
    /// What Kubernetes makes of a child.
    Dependant,
    /// What the handler reads.
    Related,
}

/// A relation of two objects.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MapEdge")]
pub(in crate::web) struct Edge {
    pub(in crate::web) from: String,
    pub(in crate::web) to: String,
    pub(in crate::web) relation: Relation,
}

/// How two objects are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "MapRelation")]
pub(in crate::web) enum Relation {
    /// The second exists because of the first.
    Owns,
    /// The first mounts the second, which exists because of another object.
    Mounts,
    /// The handler of the first reads the second.
    Reads,
}

pub(super) struct Sources<'a> {
    pub(super) ty: &'a K8sType,
    pub(super) key: &'a ObjectKey,
    pub(super) phase: ParentPhase,
    pub(super) rollout: Option<String>,
    pub(super) children: Vec<Node>,
    pub(super) omitted: usize,
    pub(super) related: Vec<ShownRead>,
    pub(super) dependants: Vec<Dependants>,
    /// Text without what is secret.
    pub(super) shown: &'a dyn Fn(&str) -> String,
}

pub(super) fn graph(sources: Sources<'_>) -> Map {
    let Sources { ty, key, phase, rollout, children, omitted, related, dependants, shown } =
        sources;
    let parent = MapNode {
        state: phase.name(),
        message: rollout.unwrap_or_default(),
        ..MapNode::new(Role::Parent, ty.into(), key.into())
    };
    let mut drawing = Drawing::default();
    let root = parent.id.clone();
    drawing.known.insert(root.clone(), 0);
    drawing.map.nodes.push(parent);
    drawing.map.omitted = omitted;
    for child in children {
        drawing.child(&root, child);
    }
    for beneath in dependants {
        drawing.beneath(beneath, shown);
    }
    for read in related {
        drawing.related(&root, read, shown);
    }
    drawing.map
}

#[derive(Default)]
struct Drawing {
    map: Map,
    /// Where each id is.
    known: HashMap<String, usize>,
}

impl Drawing {
    fn child(&mut self, above: &str, node: Node) {
        let Node { ty, key, facts, readiness, decision, preview: _, children } = node;
        let (uid, changed_by) =
            facts.map_or((None, None), |facts| (Some(facts.uid), facts.changed_by));
        let node = MapNode {
            state: readiness.state,
            message: readiness.message,
            decision,
            changed_by,
            uid,
            ..MapNode::new(Role::Child, ty, key)
        };
        let id = node.id.clone();
        self.add(above, node, Relation::Owns);
        for child in children {
            self.child(&id, child);
        }
    }

    /// The Pods of a child, and the claims of each.
    fn beneath(&mut self, read: Dependants, shown: &dyn Fn(&str) -> String) {
        let Dependants { of, pods, claims, warnings: _, errors } = read;
        for error in errors {
            if !self.map.errors.contains(&error) {
                self.map.errors.push(error);
            }
        }
        let above = id_of(&of);
        let of_itself = claims.iter().filter(|_| of.ty.is("v1", "Pod"));
        for claim in of_itself {
            self.dependant(&above, &claim_type(), claim, shown);
        }
        for pod in &pods {
            let Some(id) = self.dependant(&above, &pod_type(), pod, shown) else { continue };
            let named = claims_of(pod);
            let mounted = claims.iter().filter(|claim| {
                claim["metadata"]["name"]
                    .as_str()
                    .is_some_and(|name| named.iter().any(|it| it == name))
            });
            for claim in mounted {
                self.dependant(&id, &claim_type(), claim, shown);
            }
        }
    }

    fn dependant(
        &mut self,
        above: &str,
        ty: &K8sType,
        value: &Value,
        shown: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let object = Object::from_value(ty, value, &KeptManagers::default()).ok()?;
        let Readiness { state, message } = Readiness::of(&object);
        let node = MapNode {
            state: state.name(),
            message: shown(&message),
            logs: log_commands(ty, object.key(), value),
            uid: Some(object.uid().to_string()),
            ..MapNode::new(Role::Dependant, ty.into(), object.key().into())
        };
        let id = node.id.clone();
        if let Some(known) = self.known.get(&id) {
            let known = &mut self.map.nodes[*known];
            known.logs.clone_from(&node.logs);
        }
        self.add(above, node, Relation::Owns);
        Some(id)
    }

    fn related(&mut self, root: &str, read: ShownRead, shown: &dyn Fn(&str) -> String) {
        let ShownRead { ty, which, found, problem } = read;
        let (state, message) = match (problem, found) {
            (Some(problem), _) => ("Failed", shown(&problem)),
            (None, None) => ("Progressing", "being listed".to_owned()),
            (None, Some(found)) if is_selection(&which) => ("Selection", format!("{found} found")),
            (None, Some(0)) => ("Missing", "it does not exist".to_owned()),
            (None, Some(_)) => ("Exists", String::new()),
        };
        let name = Some(&which).filter(|which| !is_selection(which));
        let key = name.and_then(|name| name.parse().ok());
        let key = key.unwrap_or_else(|| ObjectKey::cluster(&which));
        let node =
            MapNode { state, message, ..MapNode::new(Role::Related, (&ty).into(), (&key).into()) };
        self.add(root, node, Relation::Reads);
    }

    /// An object that is known already has one more relation only.
    fn add(&mut self, above: &str, node: MapNode, relation: Relation) {
        let id = node.id.clone();
        let is_known = self.known.contains_key(&id);
        let relation =
            if is_known && relation == Relation::Owns { Relation::Mounts } else { relation };
        let is_drawn = |edge: &Edge| edge.from == above && edge.to == id;
        if !is_known {
            self.known.insert(id.clone(), self.map.nodes.len());
            self.map.nodes.push(node);
        } else if self.map.edges.iter().any(is_drawn) {
            return;
        }
        self.map.edges.push(Edge { from: above.to_owned(), to: id, relation });
    }
}

/// Whether objects are selected by their labels, and not named.
fn is_selection(which: &str) -> bool {
    which.contains([' ', '='])
}

impl From<FieldOwner> for OwnerView {
    fn from(owner: FieldOwner) -> Self {
        let FieldOwner { manager, operation, subresource, time, fields, omitted } = owner;
        Self { manager, operation, subresource, time, fields, omitted }
    }
}

impl MapNode {
    fn new(role: Role, ty: TypeView, key: KeyView) -> Self {
        Self {
            id: format!("{}/{key}", ty.name),
            role,
            ty,
            key,
            state: "",
            message: String::new(),
            decision: None,
            changed_by: None,
            logs: Vec::new(),
            uid: None,
        }
    }
}

fn id_of(ChildId { ty, key }: &ChildId) -> String {
    format!("{}/{key}", ty.resource_name())
}

fn pod_type() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

fn claim_type() -> K8sType {
    K8sType::namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
}

#[cfg(test)]
mod tests;
