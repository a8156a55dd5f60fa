//! Children that Kubernetes does not collect: our finalizer stays on their parent until they are gone.
//! Decides what is listed and deleted; `child` deletes it.

use crate::{
    object::{K8sType, Object},
    plan::{self},
    reply::ApiError,
    run::{module_view::View, request::Request},
};

/// The finalizer of a parent that is deleted with foreground propagation.
const FOREGROUND: &str = "foregroundDeletion";

/// Children that stay when their parent is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Orphans {
    Stay,
    /// The handler said so.
    Go,
}

/// A type, and the namespace of a list, or `None` for all.
pub(in crate::run) type List = (K8sType, Option<String>);

/// The lists to read live: a child whose creation was not answered may not be cached, and nobody would delete
/// it after its parent.
pub(in crate::run) fn lists(orphans: Orphans, view: &View<'_>) -> Vec<List> {
    let config = view.settings.config();
    let of_type = |ty: &K8sType| {
        let namespaces = match config.namespaces.names() {
            Some(names) if ty.is_namespaced() => {
                names.iter().map(|name| Some(name.clone())).collect()
            }
            Some(_) | None => vec![None],
        };
        let ty = ty.clone();
        namespaces.into_iter().map(move |namespace| (ty.clone(), namespace))
    };
    let types = config.children.iter().map(|child| &child.ty);
    let of_finalization = types.filter(|ty| {
        !config.deleted_with_finalizer().any(|it| it == *ty) && may_be_until_finalized(ty, view)
    });
    let orphaned = config.children.iter().filter(|child| {
        orphans == Orphans::Go
            && child.config.orphan_on_delete
            && !may_be_until_finalized(&child.ty, view)
    });
    let orphaned = orphaned.map(|child| &child.ty);
    let types = config.deleted_with_finalizer().chain(of_finalization).chain(orphaned);
    types.flat_map(of_type).collect()
}

/// Whether a finalization may have made a child of the type that the parent does not own. Kubernetes may have
/// orphaned the others since, and then the parent does not show any more why.
fn may_be_until_finalized(ty: &K8sType, view: &View<'_>) -> bool {
    let is_cached = || {
        let children = view.children();
        children.of_type(ty).iter().any(plan::is_until_finalized)
    };
    view.settings.has_finalizer && (plan::loses_owned_children(view.parent) || is_cached())
}

pub(in crate::run) fn request(list: &List, view: &View<'_>) -> Request {
    let (ty, namespace) = list.clone();
    let label = &view.settings.config().labels.parent_uid;
    Request::List { ty, namespace, selector: format!("{label}={}", view.parent.uid()) }
}

/// The children that a list still contains.
///
/// The error of the server. A 404 usually means that the type and its objects are gone, but a version that is
/// no longer served, or a starting server, answers the same while they exist.
pub(in crate::run) fn left(
    ty: &K8sType,
    listed: Result<Vec<Object>, ApiError>,
    orphans: Orphans,
    view: &View<'_>,
) -> Result<Vec<Object>, ApiError> {
    let mut left = match listed {
        Err(error) if error.code() == Some(404) && !knows(ty, orphans, view) => Vec::new(),
        listed => listed?,
    };
    left.retain(|child| view.settings.is_ours(view.parent, child) && is_left(child, orphans, view));
    Ok(left)
}

/// Whether a child has to go, and Kubernetes does not collect it.
fn is_left(child: &Object, orphans: Orphans, view: &View<'_>) -> bool {
    !plan::can_own(view.parent, child.namespace())
        || plan::is_until_finalized(child)
        || orphans == Orphans::Go && plan::is_orphan(child)
}

fn knows(ty: &K8sType, orphans: Orphans, view: &View<'_>) -> bool {
    let children = view.children();
    children.of_type(ty).iter().any(|child| is_left(child, orphans, view))
}

/// The children that Kubernetes deletes after the parent: the children that we wait for may depend on them, as a
/// `PersistentVolume` does on its claim. None while other finalizers must act first, for example to back up
/// or orphan the children.
pub(in crate::run) fn others(view: &View<'_>) -> Vec<Object> {
    let config = view.settings.config();
    let (name, former) = (config.finalizer_name(), &config.predecessor.finalizers);
    let is_ours = |held: &String| *held == name || former.contains(held);
    if view.parent.finalizers().iter().any(|held| !is_ours(held) && held != FOREGROUND) {
        return Vec::new();
    }
    let children = view.children();
    let stays = |child: &Object| {
        let of_type = view.settings.config().child_config(child.ty());
        of_type.is_some_and(|it| it.orphan_on_delete)
    };
    let is_due =
        |child: &&Object| is_only_ours(view.parent, child) && !stays(child) && !child.is_deleting();
    children.iter().filter(is_due).cloned().collect()
}

/// Whether Kubernetes will delete a child with its parent: one with another owner stays.
fn is_only_ours(parent: &Object, child: &Object) -> bool {
    let metadata = child.field("metadata").unwrap_or_default();
    let owners = metadata["ownerReferences"].as_array().map_or(0, Vec::len);
    plan::can_own(parent, child.namespace())
        && child.controller() == Some(parent.uid())
        && owners == 1
}
