//! How many objects there are in each namespace with a watch of its own, so that a list that
//! contains all of them is recognized without a search through all namespaces.

use std::collections::HashMap;

/// The count of objects by namespace, for the namespaces that are counted.
#[derive(Debug, Default)]
pub(super) struct Census(HashMap<String, usize>);

impl Census {
    /// Starts to count a namespace with so many objects.
    pub(super) fn begin(&mut self, namespace: &str, present: usize) {
        self.0.insert(namespace.to_owned(), present);
    }

    pub(super) fn enter(&mut self, namespace: Option<&str>) {
        self.counted(namespace).into_iter().for_each(|count| *count += 1);
    }

    pub(super) fn leave(&mut self, namespace: Option<&str>) {
        self.counted(namespace).into_iter().for_each(|count| *count -= 1);
    }

    /// How many there are, if the namespace is counted.
    pub(super) fn of(&self, namespace: &str) -> Option<usize> {
        self.0.get(namespace).copied()
    }

    fn counted(&mut self, namespace: Option<&str>) -> Option<&mut usize> {
        self.0.get_mut(namespace?)
    }
}
