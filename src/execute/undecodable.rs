//! Announces undecodable objects by Events. These Events share one rate limit per operator, as those of a
//! parent do.

use super::Context;
use crate::{
    object::{Object, Undecodable},
    operator::OperatorConfig,
    reply::{EventKind, Regarding},
    report::Author,
};

const REASON: &str = "Undecodable";

impl Context {
    /// Announces an undecodable object; `parents` are its known parents. Call it within the runtime of the
    /// reconciles.
    pub(crate) fn announce_undecodable(&self, object: &Undecodable, parents: &[Object]) {
        for about in self.concerned(object, parents) {
            let event = (EventKind::Warning, REASON, object.to_string());
            self.announce_event(&about, event, Author::Framework, &mut self.undecodable());
        }
    }

    /// The objects of the Events: the parent itself, else the parents of a child, else the child if it may
    /// belong to the operator.
    pub(super) fn concerned(&self, object: &Undecodable, parents: &[Object]) -> Vec<Regarding> {
        let config = self.config();
        let (ty, uid) = (object.ty(), object.uid());
        let key = object.key().cloned();
        let itself = key.map(|key| Regarding { ty: ty.clone(), key, uid: uid.cloned() });
        if *ty == config.parent && self.settings.may_answer_for(object) {
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

/// An object with undecodable labels may be a child.
fn may_be_child(config: &OperatorConfig, object: &Undecodable) -> bool {
    let namespace = object.key().and_then(|key| key.namespace.as_deref());
    let is_ours = object.labels().is_none_or(|labels| {
        labels.get(&config.labels.managed_by).is_some_and(|operator| *operator == config.name)
    });
    is_ours && config.namespaces.include(namespace)
}
