//! The end of the children that Kubernetes does not collect: our finalizer stays on their parent
//! until they are gone.

use super::{Context, End, Report, delete, ours};
use crate::{
    cluster::ApiError,
    object::{K8sType, Object},
    plan::{self, ChildId, Deletion, WaitingReason},
};

/// What a parent that is deleted with this propagation policy has among its finalizers until its
/// children are gone.
const FOREGROUND: &str = "foregroundDeletion";

/// Deletes what only we would ever delete. Whether nothing is left; if not, the report says why.
///
/// The objects are listed live: a child whose creation was never answered may not be cached yet,
/// and once the parent is gone nobody would look for it.
pub(super) async fn remove(context: &Context, parent: &Object, report: &mut Report) -> bool {
    match left(context, parent).await {
        Ok(children) => {
            for child in &children {
                end(context, parent, child, report).await;
            }
        }
        Err(error) => report.step_failed(&"the children that Kubernetes does not collect", error),
    }
    if !report.waiting.is_empty() && !report.is_throttled() {
        remove_others(context, parent, report).await;
    }
    report.close();
    report.failure().is_none() && report.end == End::Alive && report.waiting.is_empty()
}

async fn left(context: &Context, parent: &Object) -> Result<Vec<Object>, ApiError> {
    let (config, name) = (context.config(), context.name());
    let mut left = Vec::new();
    for ty in config.uncollectable() {
        for namespace in namespaces(context, ty) {
            left.extend(listed(context, parent, ty, namespace).await?);
        }
    }
    left.retain(|child| {
        let is_ours = plan::is_ours(config, name, parent, child);
        is_ours && !plan::can_own(parent, child.namespace())
    });
    Ok(left)
}

async fn listed(
    context: &Context,
    parent: &Object,
    ty: &K8sType,
    namespace: Option<&str>,
) -> Result<Vec<Object>, ApiError> {
    let selector = format!("{}={}", context.config().labels.parent_uid, parent.uid());
    match context.cluster().list_labelled(ty, namespace, selector).await {
        // With the type its objects are gone, of which the watch tells. A version that is served no
        // longer, or a server that has just been started, says the same while they are there.
        Err(error) if error.code() == Some(404) && !knows(context, parent, ty) => Ok(Vec::new()),
        listed => listed,
    }
}

fn knows(context: &Context, parent: &Object, ty: &K8sType) -> bool {
    let children = ours(context, parent, &context.observed(parent));
    children.of_type(ty).iter().any(|child| !plan::can_own(parent, child.namespace()))
}

/// Where the operator may look.
fn namespaces<'a>(context: &'a Context, ty: &K8sType) -> Vec<Option<&'a str>> {
    match context.config().namespaces.names() {
        Some(names) if ty.is_namespaced() => names.iter().map(|name| Some(name.as_str())).collect(),
        Some(_) | None => vec![None],
    }
}

/// Deletes a child, and waits for one that has finalizers or a grace period.
async fn end(context: &Context, parent: &Object, child: &Object, report: &mut Report) {
    if !child.is_deleting() && report.is_throttled() {
        return report.hold_back(&ChildId::of(child));
    }
    if !child.is_deleting() {
        delete::delete(context, parent, Deletion::undesired(child), report).await;
    }
    // What the server answered to the deletion is cached.
    let cached = context.cached(child.ty(), child.key());
    let is_ending = |cached: &Object| cached.uid() == child.uid() && cached.is_deleting();
    let ending = cached.filter(is_ending).or_else(|| child.is_deleting().then(|| child.clone()));
    if let Some(ending) = ending {
        report.wait_for(&ChildId::of(child), &WaitingReason::deleting(&ending));
    }
}

/// Begins what Kubernetes would do as soon as the parent is gone: what we wait for may itself wait
/// for that, as a `PersistentVolume` does for its claim. Not while others have to do something first,
/// such as to back up what the children hold, or to orphan them.
async fn remove_others(context: &Context, parent: &Object, report: &mut Report) {
    let former = &context.config().predecessor.finalizers;
    let is_ours = |held: &String| *held == context.name().finalizer() || former.contains(held);
    if parent.finalizers().iter().any(|held| !is_ours(held) && held != FOREGROUND) {
        return;
    }
    let children = ours(context, parent, &context.observed(parent));
    let is_due = |child: &&Object| is_only_ours(parent, child) && !child.is_deleting();
    for child in children.iter().filter(is_due) {
        if !report.is_throttled() {
            delete::delete(context, parent, Deletion::undesired(child), report).await;
        }
    }
}

/// Whether Kubernetes will delete a child of ours with its parent: what has another owner stays.
fn is_only_ours(parent: &Object, child: &Object) -> bool {
    let metadata = child.field("metadata").unwrap_or_default();
    let owners = metadata["ownerReferences"].as_array().map_or(0, Vec::len);
    plan::can_own(parent, child.namespace()) && owners == 1
}
