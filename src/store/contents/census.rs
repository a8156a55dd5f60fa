//! How many objects there are in each namespace that has a watch of its own, so that a list that lacks
//! none of them is known to without a look at those of all other namespaces.

use std::collections::HashMap;

/// The count of objects by namespace, of those namespaces that are to be counted.
#[derive(Debug, Default)]
pub(super) struct Census(HashMap<String, usize>);

impl Census {
    /// Counts a namespace from now on, in which there are as many.
    pub(super) fn begin(&mut self, namespace: &str, present: usize) {
        self.0.insert(namespace.to_owned(), present);
    }

    pub(super) fn enter(&mut self, namespace: Option<&str>) {
        self.counted(namespace).into_iter().for_each(|count| *count += 1);
    }

    pub(super) fn leave(&mut self, namespace: Option<&str>) {
        self.counted(namespace).into_iter().for_each(|count| *count -= 1);
    }

    /// How many there are, where they are counted.
    pub(super) fn of(&self, namespace: &str) -> Option<usize> {
        self.0.get(namespace).copied()
    }

    fn counted(&mut self, namespace: Option<&str>) -> Option<&mut usize> {
        self.0.get_mut(namespace?)
    }
}
