//! Objects that cannot be read: they are told in Events about what a user looks at, and each run of a
//! parent that they concern looks again and fails for as long as that lasts. What is cached of them
//! is old: nothing is decided on a parent that cannot be read, and nothing is deleted while a child
//! cannot. All Events of an operator are limited together, as those of a run are for a parent.

use super::{Context, Report, events};
use crate::{
    cluster::{ApiError, EventKind, Regarding},
    object::{K8sType, Object, ObjectKey, Undecodable},
    operator::OperatorConfig,
    plan::ChildId,
};

/// The reason of the Event.
const REASON: &str = "Undecodable";

impl Context {
    /// Tells that an object cannot be read, which may concern the operator; `parents` are those to
    /// whom it is known to belong. To be called within the runtime of the runs.
    pub fn tell_undecodable(&self, object: &Undecodable, parents: &[Object]) {
        for about in self.concerned(object, parents) {
            let event = (EventKind::Warning, REASON, object.to_string());
            events::tell_about(self, &about, event, &mut self.undecodable());
        }
    }

    /// What the Events are about: a parent itself, else the parents of a child, else the child, if it
    /// may be one of the operator.
    pub(super) fn concerned(&self, object: &Undecodable, parents: &[Object]) -> Vec<Regarding> {
        let config = self.config();
        let (ty, uid) = (object.ty(), object.uid());
        let key = object.key().cloned();
        let itself = key.map(|key| Regarding { ty: ty.clone(), key, uid: uid.cloned() });
        if *ty == config.parent && self.may_answer_for(object) {
            return itself.into_iter().collect();
        }
        if config.child_config(ty).is_none() {
            return Vec::new();
        }
        if parents.is_empty() {
            return itself.filter(|_| may_be_child(config, object)).into_iter().collect();
        }
        parents.iter().map(Regarding::from).collect()
    }
}

/// The parent as it can be read by now; `None`, which the report explains, when it cannot.
pub(super) async fn parent_again(
    context: &Context,
    parent: Object,
    report: &mut Report,
) -> Option<Object> {
    let (ty, key) = (parent.ty(), parent.key());
    if context.left_out(ty, key).is_none() {
        return Some(parent);
    }
    match look_again(context, ty, key).await {
        Ok(live) => live.filter(|live| live.uid() == parent.uid()),
        Err(error) => {
            report.step_failed(&"the parent", error);
            report.close();
            None
        }
    }
}

/// Looks again at the children that cannot be read. One that still cannot fails the run.
pub(super) async fn children_again(context: &Context, parent: &Object, report: &mut Report) {
    for object in context.left_out_of(parent) {
        let Some(key) = object.key() else { continue };
        if let Err(error) = look_again(context, object.ty(), key).await {
            let id = ChildId { ty: object.ty().clone(), key: key.clone() };
            report.child_failed(&id, error);
        }
    }
}

async fn look_again(
    context: &Context,
    ty: &K8sType,
    key: &ObjectKey,
) -> Result<Option<Object>, ApiError> {
    let live = context.cluster().read(ty, key).await?;
    if let Some(live) = live.clone() {
        context.learn_live(live);
    }
    Ok(live)
}

/// What its labels do not say cannot be ruled out.
fn may_be_child(config: &OperatorConfig, object: &Undecodable) -> bool {
    let namespace = object.key().and_then(|key| key.namespace.as_deref());
    let is_ours = object.labels().is_none_or(|labels| {
        labels.get(&config.labels.managed_by).is_some_and(|operator| *operator == config.name)
    });
    is_ours && config.namespaces.include(namespace)
}
