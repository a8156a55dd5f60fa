//! Recently deleted objects, and those that left the selector, with the version at which they did.
//!
//! A reply to a write and the watch race: the reply to a delete can be read after the `DELETED`
//! event, or after a list without the object, and would restore it for ever. An object that only
//! left the selector does come back, but with a newer version.

use std::collections::{HashMap, VecDeque};

use crate::object::{Object, ResourceVersion, Uid};

/// How many are remembered: far more than there are pending replies at once.
const MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Departed {
    versions: HashMap<Uid, ResourceVersion>,
    oldest_first: VecDeque<Uid>,
}

impl Departed {
    /// Records that an object was gone at a version: that of its `DELETED` event, or of a list
    /// without it. One watch may report an earlier departure than another one.
    pub(super) fn remember(&mut self, uid: &Uid, version: &ResourceVersion) {
        if let Some(earlier) = self.versions.get_mut(uid) {
            *earlier = earlier.clone().newest(version.clone());
            return;
        }
        self.versions.insert(uid.clone(), version.clone());
        self.oldest_first.push_back(uid.clone());
        if self.oldest_first.len() > MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.versions.remove(&oldest);
        }
    }

    /// The version at which an object left.
    pub(super) fn departure(&self, uid: &Uid) -> Option<&ResourceVersion> {
        self.versions.get(uid)
    }

    /// Whether an object is certainly from before its departure.
    pub(super) fn outdates(&self, object: &Object) -> bool {
        let version = object.resource_version();
        let is_past = |left: &ResourceVersion| left == version || version.is_older_than(left);
        self.departure(object.uid()).is_some_and(is_past)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn only_the_last_departures_are_remembered() {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let object = |number: usize| {
            let uid = number.to_string();
            let value = json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": "7"}});
            Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
        };
        let mut departed = Departed::default();
        for number in 0..=MAX {
            let gone = object(number);
            departed.remember(gone.uid(), gone.resource_version());
            departed.remember(gone.uid(), gone.resource_version());
        }
        assert!(!departed.outdates(&object(0)) && departed.outdates(&object(1)));
        assert_eq!((departed.versions.len(), departed.oldest_first.len()), (MAX, MAX));
    }
}
