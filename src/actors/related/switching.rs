//! Ends watches that are not needed any more, when those that replace them can answer.

use std::collections::{BTreeSet, HashMap};

use super::RelatedReflector;
use crate::{
    object::{Object, ObjectKey},
    operator::Ask,
    related::{FeedKey, wanted},
    store::Change,
};

impl RelatedReflector {
    pub(super) fn switch(&mut self) {
        let wanted = wanted(self.spec(), &self.asked, self.feeds.keys());
        let superfluous: Vec<FeedKey> =
            self.feeds.keys().filter(|key| !wanted.contains(key)).cloned().collect();
        if superfluous.is_empty() || !wanted.iter().all(|key| self.can_answer(key)) {
            return;
        }
        let changes: Vec<Change> =
            superfluous.iter().flat_map(|key| self.differences(key)).collect();
        for key in &superfluous {
            self.end_feed(key);
        }
        self.notify(&changes.into());
        self.report_problems();
    }

    /// Whether a watch has everything that is asked for within it.
    fn can_answer(&self, key: &FeedKey) -> bool {
        let is_synced = self.feeds.get(key).is_some_and(super::Feed::is_synced);
        let has_fetched = || {
            let mut covered = self.covered_by(key).into_iter();
            covered.all(|ask| self.source.has_fetched(&ask))
        };
        is_synced && (matches!(key, FeedKey::Exact(_)) || has_fetched())
    }

    /// How the objects of a watch that ends differ from those of its successor.
    fn differences(&self, key: &FeedKey) -> Vec<Change> {
        let Some(before) = self.feeds.get(key).filter(|feed| feed.is_synced()) else {
            return Vec::new();
        };
        let successor = |ask: &Ask| match key {
            FeedKey::Exact(_) => self.spec().broad(ask),
            FeedKey::Broad(_) => FeedKey::Exact(ask.clone()),
        };
        let mut changes = Vec::new();
        for ask in self.covered_by(key).iter().filter(|ask| self.asked.contains(ask)) {
            let Some(after) = self.feeds.get(&successor(ask)) else { continue };
            let of_ask = |objects: Vec<Object>| {
                objects.into_iter().filter(|it| ask.includes(it)).collect::<Vec<_>>()
            };
            let before = of_ask(before.store.reader().objects());
            changes.extend(differences(before, of_ask(after.store.reader().objects())));
        }
        changes
    }
}

fn differences(before: Vec<Object>, after: Vec<Object>) -> Vec<Change> {
    let by_key = |objects: Vec<Object>| -> HashMap<ObjectKey, Object> {
        objects.into_iter().map(|object| (object.key().clone(), object)).collect()
    };
    let (mut before, mut after) = (by_key(before), by_key(after));
    let keys: BTreeSet<ObjectKey> = before.keys().chain(after.keys()).cloned().collect();
    let sides = keys.iter().map(|key| (before.remove(key), after.remove(key)));
    let changed = sides.filter(|(before, after)| before != after);
    changed.map(|(before, after)| Change { before, after, parents: BTreeSet::new() }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn what_differs_between_two_watches_is_a_change() {
        let object = |name: &str, version: &str| {
            let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
            let metadata =
                json!({"name": name, "namespace": "ns", "uid": name, "resourceVersion": version});
            let value = json!({"metadata": metadata});
            Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
        };
        let before = vec![object("same", "1"), object("changed", "1"), object("gone", "1")];
        let after = vec![object("new", "5"), object("changed", "2"), object("same", "1")];
        let shown = |side: Option<Object>| side.map(|it| it.resource_version().to_string());
        let changes = differences(before, after).into_iter().map(|change| {
            let name = change.object().name().to_owned();
            (name, shown(change.before), shown(change.after))
        });
        let version = |text: &str| Some(text.to_owned());
        let expected = [
            ("changed".to_owned(), version("1"), version("2")),
            ("gone".to_owned(), version("1"), None),
            ("new".to_owned(), None, version("5")),
        ];
        assert_eq!(changes.collect::<Vec<_>>(), expected);
    }
}
