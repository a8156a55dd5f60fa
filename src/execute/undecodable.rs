//! Objects that cannot be read are announced by Events about what a user looks at. All Events of an operator
//! about such objects are limited together, as those of a parent are.

use super::Context;
use crate::{
    object::{Object, Undecodable},
    operator::OperatorConfig,
    reply::{EventKind, Regarding},
};

/// The reason of the Event.
const REASON: &str = "Undecodable";

impl Context {
    /// Tells that an object cannot be read, which may concern the operator; `parents` are those to
    /// whom it is known to belong. To be called within the runtime of the reconciles.
    pub fn tell_undecodable(&self, object: &Undecodable, parents: &[Object]) {
        for about in self.concerned(object, parents) {
            let event = (EventKind::Warning, REASON, object.to_string());
            self.tell_about(&about, event, &mut self.undecodable());
        }
    }

    /// What the Events are about: a parent itself, else the parents of a child, else the child, if it
    /// may be one of the operator.
    pub(super) fn concerned(&self, object: &Undecodable, parents: &[Object]) -> Vec<Regarding> {
        let config = self.config();
        let (ty, uid) = (object.ty(), object.uid());
        let key = object.key().cloned();
        let itself = key.map(|key| Regarding { ty: ty.clone(), key, uid: uid.cloned() });
        if *ty == config.parent && self.settings().may_answer_for(object) {
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

/// What its labels do not say cannot be ruled out.
fn may_be_child(config: &OperatorConfig, object: &Undecodable) -> bool {
    let namespace = object.key().and_then(|key| key.namespace.as_deref());
    let is_ours = object.labels().is_none_or(|labels| {
        labels.get(&config.labels.managed_by).is_some_and(|operator| *operator == config.name)
    });
    is_ours && config.namespaces.include(namespace)
}
