//! The related objects on the board.

use std::{collections::BTreeMap, sync::Arc};

use super::Board;
use crate::{
    object::{K8sType, Uid},
    operator::OperatorName,
    related::{Reads, ShownRead, Source, SourceSpec},
};

impl Board {
    /// Sets where the related objects of an operator's parents are looked up.
    pub(crate) fn show_related(&self, operator: &OperatorName, reads: Arc<Reads>) {
        if let Some(operator) = self.write().operators.get_mut(operator.as_str()) {
            operator.reads = Some(reads);
        }
    }

    /// Adds a source of related objects.
    pub(crate) fn add_source(&self, source: Source) {
        self.write().related.push(source);
    }

    /// Removes a source of related objects.
    pub(crate) fn remove_source(&self, spec: &SourceSpec) {
        self.write().related.retain(|source| source.spec() != spec);
        let what = if spec.metadata_only { "related-metadata" } else { "related" };
        self.remove_pulse(&format!("{what}/{}", spec.ty.resource_name()));
    }

    /// The bytes of JSON of all related objects in caches of their own.
    pub fn related_bytes(&self) -> usize {
        self.related_sizes().values().map(|(_, bytes)| bytes).sum()
    }

    /// How many related objects of each type are cached, and their bytes of JSON.
    pub(crate) fn related_sizes(&self) -> BTreeMap<K8sType, (usize, usize)> {
        // Read without the lock of the board.
        let sources = self.read().related.clone();
        let mut sizes = BTreeMap::new();
        for source in sources {
            let (objects, bytes) = source.size();
            let size: &mut (usize, usize) = sizes.entry(source.spec().ty.clone()).or_default();
            *size = (size.0 + objects, size.1 + bytes);
        }
        sizes
    }

    /// Why related objects of each type cannot be read or may be out of date; none where all is well.
    pub(crate) fn related_problems(&self) -> BTreeMap<K8sType, Vec<String>> {
        // Read without the lock of the board.
        let sources = self.read().related.clone();
        let mut problems: BTreeMap<K8sType, Vec<String>> = BTreeMap::new();
        for source in sources {
            problems.entry(source.spec().ty.clone()).or_default().extend(source.problems());
        }
        problems
    }

    /// The related objects that a parent reads.
    pub(crate) fn related(&self, operator: &str, parent: &Uid) -> Vec<ShownRead> {
        // Read without the lock of the board.
        let reads = self.read().operators.get(operator).and_then(|it| it.reads.clone());
        reads.map(|reads| reads.shown(parent)).unwrap_or_default()
    }
}
