//! Recently deleted objects and objects that left the selector, with the version at which they went.
//!
//! A reply to a write and the watch race: the reply to a delete can be read after the `DELETED`
//! event, or after a list without the object, and would restore it for ever. An object that only
//! left the selector does come back, but with a newer version; and a watch with another selector may show it in
//! the version in which it left.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use crate::object::{Object, ResourceVersion, Uid};

/// How many are remembered: far more than there are pending replies at once.
const MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Departed {
    known: HashMap<Uid, Departure>,
    oldest_first: VecDeque<Uid>,
}

/// What is known of an object that is gone.
#[derive(Debug, Clone)]
pub(super) struct Departure {
    /// The version of its `DELETED` event, or of a list without it.
    version: ResourceVersion,
    /// How it may have left without being deleted.
    left: Option<Left>,
}

/// An object that only those who see it by a selector know to be gone.
#[derive(Debug, Clone)]
struct Left {
    selector: Arc<str>,
    /// Its last version that is known: who is shown something older will be shown this.
    last: ResourceVersion,
}

impl Departure {
    /// The object was deleted.
    pub(super) fn deleted(version: ResourceVersion) -> Self {
        Self { version, left: None }
    }

    /// A watch with this selector reports it with a `DELETED` event.
    pub(super) fn at(version: ResourceVersion, selector: Option<Arc<str>>) -> Self {
        let left = selector.map(|selector| Left { selector, last: version.clone() });
        Self { version, left }
    }

    /// A list with this selector lacks the object, which was cached before.
    pub(super) fn before(
        version: ResourceVersion,
        selector: Option<Arc<str>>,
        cached: &Object,
    ) -> Self {
        let last = || cached.resource_version().clone();
        Self { version, left: selector.map(|selector| Left { selector, last: last() }) }
    }

    /// The later of two. An object that was deleted once does not come back.
    fn add(&mut self, other: Self) {
        let is_later = !other.version.is_older_than(&self.version);
        self.left = match (self.left.take(), other.left) {
            (Some(_), Some(left)) if is_later => Some(left),
            (Some(left), Some(_)) => Some(left),
            (None, _) | (_, None) => None,
        };
        if is_later {
            self.version = other.version;
        }
    }
}

impl Departed {
    /// Records that an object is gone. One watch may report an earlier departure than another one.
    pub(super) fn remember(&mut self, uid: &Uid, departure: Departure) {
        if let Some(known) = self.known.get_mut(uid) {
            return known.add(departure);
        }
        self.known.insert(uid.clone(), departure);
        self.oldest_first.push_back(uid.clone());
        if self.oldest_first.len() > MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// The version at which an object left, for those who see it by these selectors.
    pub(super) fn departure(
        &self,
        uid: &Uid,
        is_seen_by: impl Fn(&str) -> bool,
    ) -> Option<&ResourceVersion> {
        let departure = self.known.get(uid)?;
        let concerns = departure.left.as_ref().is_none_or(|left| is_seen_by(&left.selector));
        concerns.then_some(&departure.version)
    }

    /// Whether an object is known to have changed or ended after a version, by what took it out of the store.
    pub(super) fn is_later_than(&self, uid: &Uid, version: &ResourceVersion) -> bool {
        let Some(departure) = self.known.get(uid) else { return false };
        let last = departure.left.as_ref().map_or(&departure.version, |left| &left.last);
        version.is_older_than(last)
    }

    /// Whether an object that is shown as of a version, to those who see it by these selectors, is certainly from
    /// before its departure. To all others a later event shows what became of it.
    pub(super) fn outdates(
        &self,
        object: &Object,
        as_of: &ResourceVersion,
        is_seen_by: impl Fn(&str) -> bool,
    ) -> bool {
        let Some(Departure { version, left }) = self.known.get(object.uid()) else { return false };
        match left {
            Some(left) if !is_seen_by(&left.selector) => as_of.is_older_than(&left.last),
            Some(_) | None => {
                let shown = object.resource_version();
                shown == version || shown.is_older_than(version)
            }
        }
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
            for _ in 0..2 {
                let version = gone.resource_version().clone();
                departed.remember(gone.uid(), Departure::deleted(version));
            }
        }
        let outdates = |object: &Object| {
            departed.outdates(object, object.resource_version(), |_| unreachable!("deleted"))
        };
        assert!(!outdates(&object(0)) && outdates(&object(1)));
        assert_eq!((departed.known.len(), departed.oldest_first.len()), (MAX, MAX));
    }
}
