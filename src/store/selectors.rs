//! Which selections match an object: an index by namespace and by one label of each, so that a look-up
//! costs as much for ten thousand selections as for ten.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::operator::Selected;

/// A set of selections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selectors(HashMap<Option<Arc<str>>, InNamespace>);

#[derive(Debug, Clone, Default)]
struct InNamespace {
    /// By a label that every selected object has with this value.
    by_label: HashMap<String, HashMap<String, Vec<Arc<Selected>>>>,
    /// Those without such a label.
    others: Vec<Arc<Selected>>,
}

impl Selectors {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a selection that is not in the set.
    pub(crate) fn insert(&mut self, selected: &Arc<Selected>) {
        let here = self.0.entry(selected.namespace.clone()).or_default();
        let Some((label, values)) = anchor(selected) else {
            return here.others.push(selected.clone());
        };
        let by_value = here.by_label.entry(label.to_owned()).or_default();
        for value in values {
            by_value.entry(value.clone()).or_default().push(selected.clone());
        }
    }

    pub(crate) fn remove(&mut self, selected: &Arc<Selected>) {
        let Some(here) = self.0.get_mut(&selected.namespace) else { return };
        match anchor(selected) {
            None => here.others.retain(|known| known != selected),
            Some((label, values)) => here.remove(label, values, selected),
        }
        if here.others.is_empty() && here.by_label.is_empty() {
            self.0.remove(&selected.namespace);
        }
    }

    /// Those that match an object with these labels; cluster-scoped objects have no namespace.
    pub(crate) fn matching<'a>(
        &'a self,
        namespace: Option<&str>,
        labels: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a Arc<Selected>> {
        let here = namespace.map(|namespace| Some(Arc::from(namespace)));
        let sets = here.into_iter().chain([None]).filter_map(|namespace| self.0.get(&namespace));
        let matches = |selected: &&Arc<Selected>| {
            selected.selector.as_ref().is_none_or(|selector| selector.matches(labels))
        };
        sets.flat_map(|set| set.candidates(labels)).filter(matches)
    }
}

impl InNamespace {
    fn remove<'a>(
        &mut self,
        label: &str,
        values: impl IntoIterator<Item = &'a String>,
        selected: &Arc<Selected>,
    ) {
        let Some(by_value) = self.by_label.get_mut(label) else { return };
        for value in values {
            if let Some(known) = by_value.get_mut(value) {
                known.retain(|known| known != selected);
                if known.is_empty() {
                    by_value.remove(value);
                }
            }
        }
        if by_value.is_empty() {
            self.by_label.remove(label);
        }
    }

    fn candidates<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a Arc<Selected>> {
        let by_label =
            labels.iter().filter_map(|(label, value)| self.by_label.get(label)?.get(value));
        by_label.flatten().chain(&self.others)
    }
}

fn anchor(selected: &Selected) -> Option<(&str, &std::collections::BTreeSet<String>)> {
    selected.selector.as_ref()?.anchor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::LabelSelector;

    fn selected(namespace: &str, selector: &str) -> Arc<Selected> {
        let namespace = Some(namespace).filter(|it| !it.is_empty()).map(Arc::from);
        let selector = LabelSelector::parse(selector).unwrap();
        Arc::new(Selected { namespace, selector: Some(selector).filter(|it| !it.is_everything()) })
    }

    fn labels(text: &str) -> BTreeMap<String, String> {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_index_finds_what_a_scan_finds() {
        let all: Vec<_> = ["", "a", "b"]
            .iter()
            .flat_map(|namespace| {
                ["", "x=1", "x in (1,2)", "x", "!x", "y!=1,x=2", "y=1,x=1", "n>3"]
                    .map(|selector| selected(namespace, selector))
            })
            .collect();
        let mut index = Selectors::default();
        for (count, one) in all.iter().enumerate() {
            index.insert(one);
            let known = &all[..=count];
            for text in ["", "x=1", "x=2", "x=2,y=1", "x=1,y=1", "y=1", "n=4,x=1"] {
                let labels = labels(text);
                for namespace in [None, Some("a"), Some("b"), Some("c")] {
                    let mut found: Vec<_> = index.matching(namespace, &labels).cloned().collect();
                    let is_it = |it: &&Arc<Selected>| {
                        let is_here =
                            it.namespace.is_none() || it.namespace.as_deref() == namespace;
                        is_here && it.selector.as_ref().is_none_or(|it| it.matches(&labels))
                    };
                    let mut expected: Vec<_> = known.iter().filter(is_it).cloned().collect();
                    found.sort();
                    expected.sort();
                    assert_eq!(found, expected, "{text} in {namespace:?}");
                }
            }
        }
        for one in &all {
            index.remove(one);
        }
        assert!(index.is_empty());
    }
}
