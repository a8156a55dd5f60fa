//! What a store holds of all that its watch shows: only what somebody asks for.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::selectors::Selectors;
use crate::{
    object::{Object, ObjectKey, ResourceVersion},
    operator::Ask,
};

/// What is asked for. Without selections an object is judged by its name alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    names: HashSet<ObjectKey>,
    selectors: Selectors,
    /// Whether all objects are asked for.
    is_everything: bool,
}

impl Filter {
    /// Adds what was not asked for.
    pub(crate) fn add(&mut self, ask: &Ask) {
        match ask {
            Ask::Named(key) => drop(self.names.insert(key.clone())),
            Ask::Selected(selected) if selected.is_everything() => self.is_everything = true,
            Ask::Selected(selected) => self.selectors.insert(selected),
        }
    }

    pub(crate) fn remove(&mut self, ask: &Ask) {
        match ask {
            Ask::Named(key) => drop(self.names.remove(key)),
            Ask::Selected(selected) if selected.is_everything() => self.is_everything = false,
            Ask::Selected(selected) => self.selectors.remove(selected),
        }
    }

    pub(crate) fn includes(&self, object: &Object) -> bool {
        let is_selected = || {
            let labels = object.labels();
            self.selectors.matching(object.namespace(), &labels).next().is_some()
        };
        self.is_everything
            || self.names.contains(object.key())
            || (!self.selectors.is_empty() && is_selected())
    }

    /// Whether an object of this name is certainly not asked for, whatever its labels.
    pub(super) fn excludes(&self, key: &ObjectKey) -> bool {
        !self.is_everything && self.selectors.is_empty() && !self.names.contains(key)
    }
}

/// The filter of a store.
#[derive(Debug)]
pub(super) struct Filtered {
    pub(super) filter: Arc<Filter>,
    /// While something is fetched: the newest versions of objects that were passed over.
    pub(super) passed_over: Option<HashMap<ObjectKey, ResourceVersion>>,
}

impl Filtered {
    pub(super) fn new(filter: Filter) -> Self {
        Self { filter: Arc::new(filter), passed_over: None }
    }
}

impl FromIterator<Ask> for Filter {
    fn from_iter<I: IntoIterator<Item = Ask>>(asks: I) -> Self {
        let mut filter = Self::default();
        asks.into_iter().for_each(|ask| filter.add(&ask));
        filter
    }
}

/// The filter of a list that is in progress: what it omits may have been asked for since.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed(pub(super) Option<Arc<Filter>>);

impl Listed {
    /// A list of what is asked for.
    pub(crate) fn of(filter: Filter) -> Self {
        Self(Some(Arc::new(filter)))
    }

    pub(crate) fn includes(&self, object: &Object) -> bool {
        self.0.as_ref().is_none_or(|filter| filter.includes(object))
    }
}
