//! Which watches serve what is asked for of one type. Pure.
//!
//! | what is asked for | the watches |
//! |---|---|
//! | nothing | none |
//! | up to [`MOST`] names and selections | one for each |
//! | more, or all objects | one over all namespaces, or over each one of a restricted operator |
//!
//! A broad watch remains until only half as many are asked for, so that it does not come and go.

use std::collections::{BTreeSet, HashSet};

use crate::{
    object::K8sType,
    operator::{Ask, Namespaces},
};

/// So many watches of one type are open at most before a broad one replaces them.
pub(crate) const MOST: usize = 20;

/// What a watch covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FeedKey {
    /// Just this.
    Exact(Ask),
    /// All objects of a namespace, or for `None` all; those are kept that somebody asks for.
    Broad(Option<String>),
}

/// A type, and how its objects are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceSpec {
    pub(crate) ty: K8sType,
    pub(crate) metadata_only: bool,
    /// The namespaces of its operators.
    pub(crate) namespaces: Namespaces,
}

/// The watches that are needed, while these exist.
pub(crate) fn wanted<'a>(
    spec: &SourceSpec,
    asked: &HashSet<Ask>,
    mut existing: impl Iterator<Item = &'a FeedKey>,
) -> BTreeSet<FeedKey> {
    let is_broad = existing.any(|key| matches!(key, FeedKey::Broad(_)));
    let most = if is_broad { MOST / 2 } else { MOST };
    let is_everything =
        |ask: &Ask| matches!(ask, Ask::Selected(selected) if selected.is_everything());
    if asked.len() <= most && !asked.iter().any(is_everything) {
        return asked.iter().cloned().map(FeedKey::Exact).collect();
    }
    spec.broad_namespaces().into_iter().map(FeedKey::Broad).collect()
}

impl SourceSpec {
    fn broad_namespaces(&self) -> Vec<Option<String>> {
        match self.namespaces.names().filter(|_| self.ty.is_namespaced()) {
            Some(names) => names.iter().cloned().map(Some).collect(),
            None => vec![None],
        }
    }

    /// The broad watch that covers what is asked for.
    pub(crate) fn broad(&self, ask: &Ask) -> FeedKey {
        let is_restricted = self.namespaces.names().is_some();
        FeedKey::Broad(ask.namespace().filter(|_| is_restricted).map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{object::ObjectKey, operator::Selected};

    fn spec(namespaces: Namespaces) -> SourceSpec {
        let ty = K8sType::namespaced("v1", "Secret", "secrets");
        SourceSpec { ty, metadata_only: false, namespaces }
    }

    fn named(count: usize) -> HashSet<Ask> {
        let key =
            |number: usize| ObjectKey::namespaced(["a", "b"][number % 2], &number.to_string());
        (0..count).map(|number| Ask::Named(key(number))).collect()
    }

    fn broad(namespace: Option<&str>) -> FeedKey {
        FeedKey::Broad(namespace.map(str::to_owned))
    }

    #[test]
    fn a_few_names_are_watched_one_by_one_and_many_by_one_watch() {
        let everywhere = spec(Namespaces::All);
        assert!(wanted(&everywhere, &named(0), [].iter()).is_empty());
        let few = wanted(&everywhere, &named(MOST), [].iter());
        assert_eq!(few.len(), MOST);
        assert!(few.iter().all(|key| matches!(key, FeedKey::Exact(_))));
        let many = wanted(&everywhere, &named(MOST + 1), [].iter());
        assert_eq!(many, BTreeSet::from([broad(None)]));
        let only = Namespaces::Only(["a", "b"].map(str::to_owned).into());
        let many = wanted(&spec(only), &named(MOST + 1), [].iter());
        assert_eq!(many, BTreeSet::from([broad(Some("a")), broad(Some("b"))]));
    }

    #[test]
    fn a_broad_watch_remains_until_half_as_many_are_asked_for() {
        let (everywhere, existing) = (spec(Namespaces::All), [broad(None)]);
        for (count, is_broad) in [(MOST, true), (MOST / 2 + 1, true), (MOST / 2, false), (0, false)]
        {
            let keys = wanted(&everywhere, &named(count), existing.iter());
            assert_eq!(keys.contains(&broad(None)), is_broad, "{count}");
        }
    }

    #[test]
    fn all_objects_need_one_watch() {
        let all = Ask::Selected(Arc::new(Selected { namespace: None, selector: None }));
        let keys = wanted(&spec(Namespaces::All), &HashSet::from([all]), [].iter());
        assert_eq!(keys, BTreeSet::from([broad(None)]));
    }
}
