//! Passes changes by own writes and live reads to the reflectors, unless they concern only the reconcile
//! that made them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError, RwLock},
};

use crate::{
    actors::{BacklogRecipient, Observed},
    execute::{Origin, Publish},
    object::K8sType,
    operator::{OperatorConfig, OperatorName},
    store::Change,
};

/// The recipients of changes, which come and go with the reflectors.
#[derive(Clone, Default)]
pub(super) struct PublishedTo(Arc<RwLock<BTreeMap<K8sType, Audience>>>);

struct Audience {
    reflector: BacklogRecipient<Observed>,
    listeners: Listeners,
}

struct Listeners {
    operators: Vec<OperatorName>,
    is_parent_type: bool,
    /// Whether operators read its objects as related ones from the same store.
    is_read: bool,
}

impl PublishedTo {
    /// Replaces the recipients.
    pub(super) fn set(
        &self,
        reflectors: impl Iterator<Item = (K8sType, BacklogRecipient<Observed>)>,
        operators: &[&OperatorConfig],
        read: &BTreeSet<K8sType>,
    ) {
        let audience = |(ty, reflector): (K8sType, BacklogRecipient<Observed>)| {
            let listeners = Listeners::of(&ty, operators, read.contains(&ty));
            (ty, Audience { reflector, listeners })
        };
        let audiences = reflectors.map(audience).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = audiences;
    }

    pub(super) fn publish(&self) -> Publish {
        let audiences = self.0.clone();
        Arc::new(move |ty, change, origin| {
            let audiences = audiences.read().unwrap_or_else(PoisonError::into_inner);
            let Some(audience) = audiences.get(ty) else { return };
            if audience.listeners.are_concerned(&change, origin.as_ref()) {
                let (ty, changes) = (ty.clone(), [change].into());
                audience.reflector.post(Observed { ty, changes, origin });
            }
        })
    }
}

impl Listeners {
    fn of(ty: &K8sType, operators: &[&OperatorConfig], is_read: bool) -> Self {
        let listens = |config: &&&OperatorConfig| {
            config.parent == *ty || config.children.iter().any(|child| child.ty == *ty)
        };
        let names =
            operators.iter().filter(listens).filter_map(|config| config.operator_name().ok());
        let is_parent_type = operators.iter().any(|config| config.parent == *ty);
        Self { operators: names.collect(), is_parent_type, is_read }
    }

    /// Whether the change concerns anyone but the reconcile that made it. Most writes do not, and a message
    /// to an actor costs more than the rest of processing a reply.
    fn are_concerned(&self, change: &Change, origin: Option<&Origin>) -> bool {
        let Some(Origin { operator, parent }) = origin else { return true };
        let is_alone = self.operators.iter().all(|listener| listener == operator);
        let is_the_parent = change.object().uid() == parent;
        let names_others = change.parents.iter().any(|named| named != parent);
        // Another parent that wants an object of this name waits for its end.
        let has_gone = change.after.is_none();
        !is_alone
            || self.is_read
            || names_others
            || has_gone
            || (self.is_parent_type && !is_the_parent)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        object::{KeptManagers, Object, Uid},
        operator::ChildConfig,
    };

    fn config_maps() -> K8sType {
        K8sType::namespaced("v1", "ConfigMap", "configmaps")
    }

    fn operator(name: &str, parent: &str) -> OperatorConfig {
        let parent = K8sType::namespaced("example.com/v1", parent, &parent.to_lowercase());
        OperatorConfig::new(name, parent).child_of_type(config_maps(), ChildConfig::apply())
    }

    fn change(uid: &str, parents: &[&str]) -> Change {
        let value = json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": "1"}});
        let after = Object::from_value(&config_maps(), &value, &KeptManagers::default()).unwrap();
        let parents: BTreeSet<Uid> = parents.iter().map(|uid| Uid::new(uid)).collect();
        Change { before: None, after: Some(after), parents }
    }

    #[test]
    fn a_write_is_published_only_if_it_concerns_others() {
        let (a, b) = (operator("a", "A"), operator("b", "B"));
        let nested = OperatorConfig::new("a", config_maps())
            .child_of_type(config_maps(), ChildConfig::apply());
        let gone = |uid: &str, parents: &[&str]| {
            let Change { after, parents, .. } = change(uid, parents);
            Change { before: after, after: None, parents }
        };
        let by_a = Origin { operator: OperatorName::new("a").unwrap(), parent: Uid::new("p") };
        for (operators, change, origin, concerned) in [
            (vec![&a], change("c", &["p"]), Some(&by_a), false),
            (vec![&a], change("c", &["p"]), None, true),
            (vec![&a], gone("c", &["p"]), Some(&by_a), true),
            (vec![&a], change("c", &["p", "q"]), Some(&by_a), true),
            (vec![&a, &b], change("c", &["p"]), Some(&by_a), true),
            (vec![&nested], change("p", &[]), Some(&by_a), false),
            (vec![&nested], change("c", &["p"]), Some(&by_a), true),
        ] {
            let listeners = Listeners::of(&config_maps(), &operators, false);
            assert_eq!(listeners.are_concerned(&change, origin), concerned, "{change:?}");
            let listeners = Listeners::of(&config_maps(), &operators, true);
            assert!(listeners.are_concerned(&change, origin), "somebody reads it: {change:?}");
        }
    }
}
