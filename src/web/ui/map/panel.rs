//! The chosen object beside the map: what a reconcile would change, who set which field, its Events and its YAML, read
//! for this one object.

use std::time::SystemTime;

use askama::{Template, filters::HtmlSafe};
use futures::future::join;

use super::{
    figure::all_of,
    fold::{What, is_well, tiles},
};
use crate::{
    board::Board,
    object::{FieldOwner, ObjectKey, Uid},
    plan::ChildId,
    web::{
        cache::yaml,
        diff::{self, Comparing},
        kubernetes_events,
        map::{MapNode, Mapped, Role, cached, owners_of},
        ui::{
            events::Events,
            links,
            parts::{Mark, Prose, counted},
            shell::Shell,
            tree::{Preview, readiness},
        },
    },
};

#[derive(Debug, Template)]
#[template(path = "panel.html")]
pub(super) struct Panel {
    kind: String,
    name: String,
    mark: Mark,
    notes: Vec<Prose>,
    /// The objects of a folded box.
    members: Vec<Member>,
    details: Option<Details>,
    /// The map without a chosen object.
    close: String,
}

impl HtmlSafe for Panel {}

#[derive(Debug)]
struct Member {
    href: String,
    name: String,
    mark: Mark,
}

/// What is known of one object.
#[derive(Debug)]
struct Details {
    /// Its page, if it is cached.
    object: Option<String>,
    logs: Vec<Shell>,
    preview: Asked,
    /// The link that asks for the preview, or hides it.
    other_preview: String,
    owners: Result<Vec<Owner>, String>,
    events: Events,
    yaml: Option<String>,
}

#[derive(Debug)]
enum Asked {
    /// It is no child.
    Nothing,
    /// Nobody has asked.
    Not,
    /// The handler was called.
    Shown(Option<Preview>),
    Failed(String),
}

#[derive(Debug)]
struct Owner {
    manager: String,
    how: String,
    time: String,
    fields: Vec<String>,
    omitted: usize,
}

/// What the page is asked for.
pub(super) struct Choice<'a> {
    pub(super) board: &'a Board,
    pub(super) mapped: &'a Mapped,
    pub(super) id: &'a str,
    pub(super) is_preview: bool,
    pub(super) now: SystemTime,
}

impl Choice<'_> {
    /// `None` if there is no such object any more.
    pub(super) async fn panel(&self) -> Option<Panel> {
        match self.mapped.map.nodes.iter().find(|node| node.id == self.id) {
            Some(node) => Some(self.of_one(node).await),
            None => self.of_many(),
        }
    }

    fn of_many(&self) -> Option<Panel> {
        let tiles = tiles(&self.mapped.map);
        let is_it = |what: &What<'_>| matches!(what, What::Many { id, .. } if *id == self.id);
        let tile = tiles.iter().find(|tile| is_it(&tile.what))?;
        let What::Many { members, .. } = &tile.what else { return None };
        let unwell = members.iter().filter(|node| !is_well(node)).count();
        let member = |node: &&MapNode| Member {
            href: self.link(&node.id, false),
            name: node.key.to_string(),
            mark: readiness(node.state),
        };
        Some(Panel {
            kind: members.first().map(|node| node.ty.kind.clone()).unwrap_or_default(),
            name: counted(members.len(), "object", "objects"),
            mark: all_of(unwell),
            notes: Vec::new(),
            members: members.iter().map(member).collect(),
            details: None,
            close: self.link("", false),
        })
    }

    async fn of_one(&self, node: &MapNode) -> Panel {
        let mark = match node.role {
            Role::Parent => self.mapped.parent.phase.into(),
            Role::Child | Role::Dependant | Role::Related => readiness(node.state),
        };
        Panel {
            kind: node.ty.kind.clone(),
            name: node.key.to_string(),
            mark,
            notes: notes(node),
            members: Vec::new(),
            details: self.details(node).await,
            close: self.link("", false),
        }
    }

    async fn details(&self, node: &MapNode) -> Option<Details> {
        let Self { board, mapped, now, .. } = *self;
        let object = cached(board, &node.ty, &node.key);
        let uid = object.as_ref().map(|it| it.uid().to_string()).or(node.uid.clone())?;
        let key = ObjectKey::new(node.key.namespace.as_deref(), &node.key.name);
        let id = ChildId { ty: node.ty.k8s_type(), key: key.clone() };
        let operator = mapped.operator.info.name.as_str();
        let uid = Uid::new(&uid);
        let (owners, events) = join(
            owners_of(board, operator, &node.ty, &node.key),
            kubernetes_events::read(board, operator, (&key, &uid), &[]),
        )
        .await;
        let namespace = mapped.key.namespace.as_deref();
        Some(Details {
            object: object.as_ref().map(|it| links::object(it.ty(), it.key())),
            logs: node.logs.iter().cloned().map(Shell::from).collect(),
            preview: self.preview(node.role, &id).await,
            other_preview: self.link(&node.id, !self.is_preview),
            owners: owners.map(|owners| owners.into_iter().map(Owner::from).collect()),
            events: Events::new(events.without(&mapped.secrets), namespace, now),
            yaml: object.as_ref().map(|it| yaml(board, it)),
        })
    }

    async fn preview(&self, role: Role, id: &ChildId) -> Asked {
        let Self { board, mapped, .. } = *self;
        match (role, self.is_preview) {
            (Role::Parent | Role::Dependant | Role::Related, _) => return Asked::Nothing,
            (Role::Child, false) => return Asked::Not,
            (Role::Child, true) => {}
        }
        let operator = &mapped.operator.info.name;
        match board.preview(operator.as_str(), mapped.key.clone()).await {
            Ok(preview) => {
                let comparing = Comparing { board, operator, secrets: &mapped.secrets };
                let shown = diff::by_child(&preview, &comparing).remove(id);
                Asked::Shown(shown.as_ref().map(Preview::from))
            }
            Err(error) => Asked::Failed(error.to_string()),
        }
    }

    fn link(&self, id: &str, is_preview: bool) -> String {
        let operator = self.mapped.operator.info.name.as_str();
        links::map(operator, &self.mapped.key, id, is_preview)
    }
}

fn notes(node: &MapNode) -> Vec<Prose> {
    let decision = node.decision.as_ref();
    let is_repeated = decision.is_some_and(|it| it.why.as_deref() == Some(&*node.message));
    let message = Some(node.message.clone()).filter(|message| !message.is_empty() && !is_repeated);
    let decision = decision.map(|it| match it.why.as_deref() {
        Some(why) => format!("Last reconcile: {}: {why}", Mark::from(it.what).word()),
        None => format!("Last reconcile: {}", Mark::from(it.what).word()),
    });
    let other = node.changed_by.as_ref();
    let other = other.map(|manager| format!("`{manager}` changed it after the operator"));
    [message, decision, other].into_iter().flatten().map(Prose::from).collect()
}

impl From<FieldOwner> for Owner {
    fn from(
        FieldOwner { manager, operation, subresource, time, fields, omitted }: FieldOwner,
    ) -> Self {
        let how = if subresource.is_empty() {
            operation
        } else {
            format!("{operation} of {subresource}")
        };
        Self { manager, how, time, fields, omitted }
    }
}
