//! Which parents of an operator ask for which objects of a type.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use crate::{
    object::{Object, ObjectKey, Uid},
    operator::{Ask, Selected},
    store::{Change, Selectors},
};

#[derive(Debug, Default)]
pub(super) struct Index {
    by_name: HashMap<ObjectKey, Parents>,
    by_selection: HashMap<Arc<Selected>, Parents>,
    selectors: Selectors,
    asks: HashMap<Uid, Box<[Ask]>>,
}

/// The parents that ask for the same; most objects are read by one.
#[derive(Debug, PartialEq, Eq)]
enum Parents {
    One(Uid),
    Many(HashSet<Uid>),
}

/// What is asked for now and was not, and the reverse.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) asked: Vec<Ask>,
    pub(super) dropped: Vec<Ask>,
}

impl Index {
    /// Replaces what a parent asks for.
    pub(super) fn set(&mut self, parent: &Uid, asks: Vec<Ask>) -> Difference {
        let before = self.asks.get(parent).map(|asks| &**asks).unwrap_or_default();
        if *before == *asks {
            return Difference::default();
        }
        let before = self.asks.remove(parent).unwrap_or_default();
        let asked = asks.iter().filter(|ask| !before.contains(ask)).cloned();
        let asked = asked.filter(|ask| self.add(ask, parent)).collect();
        let dropped = before.into_iter().filter(|ask| !asks.contains(ask));
        let dropped = dropped.filter(|ask| self.remove(ask, parent)).collect();
        if !asks.is_empty() {
            self.asks.insert(parent.clone(), asks.into());
        }
        Difference { asked, dropped }
    }

    pub(super) fn asks_of(&self, parent: &Uid) -> &[Ask] {
        self.asks.get(parent).map(|asks| &**asks).unwrap_or_default()
    }

    /// All parents that ask for something.
    pub(super) fn parents(&self) -> Vec<Uid> {
        self.asks.keys().cloned().collect()
    }

    /// The parents that ask for this.
    pub(super) fn asking(&self, ask: &Ask) -> Vec<Uid> {
        let parents = match ask {
            Ask::Named(key) => self.by_name.get(key),
            Ask::Selected(selected) => self.by_selection.get(selected),
        };
        parents.into_iter().flat_map(Parents::iter).cloned().collect()
    }

    /// The parents that ask for either version of an object; none twice, and not the object itself.
    pub(super) fn concerned(&self, change: &Change) -> Vec<Uid> {
        let sets = self.sets_of(change);
        let itself = change.object().uid();
        let all = sets.iter().flat_map(|set| set.iter()).filter(|parent| *parent != itself);
        match sets.len() {
            0 | 1 => all.cloned().collect(),
            _ => all.cloned().collect::<HashSet<_>>().into_iter().collect(),
        }
    }

    fn sets_of(&self, change: &Change) -> Vec<&Parents> {
        let named = self.by_name.get(change.object().key());
        if self.selectors.is_empty() {
            return named.into_iter().collect();
        }
        let sides = [&change.before, &change.after].into_iter().flatten();
        let selected: BTreeSet<Arc<Selected>> =
            sides.flat_map(|side| self.selecting(side)).collect();
        let selected = selected.iter().filter_map(|selected| self.by_selection.get(selected));
        named.into_iter().chain(selected).collect()
    }

    fn selecting(&self, object: &Object) -> Vec<Arc<Selected>> {
        self.selectors.matching(object.namespace(), &object.labels()).cloned().collect()
    }

    /// Returns whether the parent is the first.
    fn add(&mut self, ask: &Ask, parent: &Uid) -> bool {
        let is_first = match ask {
            Ask::Named(key) => enter(&mut self.by_name, key, parent),
            Ask::Selected(selected) => enter(&mut self.by_selection, selected, parent),
        };
        if let (true, Ask::Selected(selected)) = (is_first, ask) {
            self.selectors.insert(selected);
        }
        is_first
    }

    /// Returns whether the parent was the last.
    fn remove(&mut self, ask: &Ask, parent: &Uid) -> bool {
        let is_last = match ask {
            Ask::Named(key) => leave(&mut self.by_name, key, parent),
            Ask::Selected(selected) => leave(&mut self.by_selection, selected, parent),
        };
        if let (true, Ask::Selected(selected)) = (is_last, ask) {
            self.selectors.remove(selected);
        }
        is_last
    }
}

fn enter<K: Clone + Eq + std::hash::Hash>(
    sets: &mut HashMap<K, Parents>,
    key: &K,
    parent: &Uid,
) -> bool {
    match sets.get_mut(key) {
        Some(parents) => {
            parents.insert(parent);
            false
        }
        None => sets.insert(key.clone(), Parents::One(parent.clone())).is_none(),
    }
}

fn leave<K: Eq + std::hash::Hash>(sets: &mut HashMap<K, Parents>, key: &K, parent: &Uid) -> bool {
    let is_empty = sets.get_mut(key).is_some_and(|parents| parents.remove(parent));
    if is_empty {
        sets.remove(key);
    }
    is_empty
}

impl Parents {
    fn insert(&mut self, parent: &Uid) {
        match self {
            Self::One(known) if known == parent => {}
            Self::One(known) => *self = Self::Many([known.clone(), parent.clone()].into()),
            Self::Many(all) => drop(all.insert(parent.clone())),
        }
    }

    /// Returns whether none is left.
    fn remove(&mut self, parent: &Uid) -> bool {
        match self {
            Self::One(known) => known == parent,
            Self::Many(all) => {
                all.remove(parent);
                all.is_empty()
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Uid> {
        let (one, many) = match self {
            Self::One(one) => (Some(one), None),
            Self::Many(many) => (None, Some(many)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers, LabelSelector};

    fn uid(name: &str) -> Uid {
        Uid::new(name)
    }

    fn named(name: &str) -> Ask {
        Ask::Named(ObjectKey::namespaced("ns", name))
    }

    fn selected(selector: &str) -> Ask {
        let selector = Some(LabelSelector::parse(selector).unwrap());
        Ask::Selected(Arc::new(Selected { namespace: None, selector }))
    }

    #[expect(clippy::unnecessary_wraps, reason = "one side of a change")]
    fn object(name: &str, tier: &str) -> Option<Object> {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let metadata = json!({"name": name, "namespace": "ns", "uid": format!("uid-{name}"),
            "resourceVersion": "1", "labels": {"tier": tier}});
        let value = json!({"metadata": metadata});
        Some(Object::from_value(&ty, &value, &KeptManagers::default()).unwrap())
    }

    fn concerned(index: &Index, before: Option<Object>, after: Option<Object>) -> Vec<String> {
        let change = Change { before, after, parents: <_>::default() };
        let mut parents: Vec<_> = index.concerned(&change).iter().map(Uid::to_string).collect();
        parents.sort();
        parents
    }

    #[test]
    fn exactly_the_parents_that_asked_are_found() {
        let mut index = Index::default();
        index.set(&uid("p"), vec![named("a"), named("b")]);
        index.set(&uid("q"), vec![named("a"), selected("tier=gold")]);
        index.set(&uid("r"), vec![selected("tier in (gold,tin)"), selected("tier=gold")]);
        for (before, after, expected) in [
            (None, object("a", ""), vec!["p", "q"]),
            (object("b", ""), None, vec!["p"]),
            (None, object("c", ""), vec![]),
            (None, object("c", "tin"), vec!["r"]),
            (object("c", "tin"), object("c", "gold"), vec!["q", "r"]),
            (object("a", "gold"), object("a", ""), vec!["p", "q", "r"]),
        ] {
            assert_eq!(
                concerned(&index, before.clone(), after.clone()),
                expected,
                "{before:?} {after:?}"
            );
        }
    }

    #[test]
    fn a_parent_is_not_woken_by_its_own_change() {
        let mut index = Index::default();
        index.set(&uid("uid-a"), vec![selected("tier=gold")]);
        index.set(&uid("uid-b"), vec![selected("tier=gold")]);
        assert_eq!(concerned(&index, None, object("a", "gold")), ["uid-b"]);
    }

    #[test]
    fn the_first_and_the_last_parent_of_an_object_are_told_apart() {
        let mut index = Index::default();
        let difference = |asked: &[Ask], dropped: &[Ask]| Difference {
            asked: asked.to_vec(),
            dropped: dropped.to_vec(),
        };
        let gold = selected("tier=gold");
        assert_eq!(
            index.set(&uid("p"), vec![named("a"), gold.clone()]),
            difference(&[named("a"), gold.clone()], &[])
        );
        assert_eq!(index.set(&uid("p"), vec![named("a"), gold.clone()]), difference(&[], &[]));
        assert_eq!(index.set(&uid("q"), vec![named("a")]), difference(&[], &[]));
        assert_eq!(index.set(&uid("p"), vec![named("b")]), difference(&[named("b")], &[gold]));
        assert_eq!(index.asking(&named("a")), [uid("q")]);
        assert_eq!(index.set(&uid("q"), vec![]), difference(&[], &[named("a")]));
        assert_eq!(index.set(&uid("p"), vec![]), difference(&[], &[named("b")]));
        assert!(index.by_name.is_empty() && index.by_selection.is_empty() && index.asks.is_empty());
        assert!(index.selectors.is_empty());
    }
}
