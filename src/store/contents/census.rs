//! How many objects there are in each namespace with a watch of its own, so that a list that
//! contains all of them is recognized without a search through all namespaces.

use std::collections::HashMap;

/// The count of objects by namespace, for the namespaces that are counted.
#[derive(Debug, Default)]
pub(super) struct Census(HashMap<String, Counted>);

#[derive(Debug)]
struct Counted {
    objects: usize,
    /// How many watches there are of the namespace.
    watches: usize,
}

impl Census {
    /// A watch of a namespace with so many objects begins.
    pub(super) fn begin(&mut self, namespace: &str, present: usize) {
        let counted = Counted { objects: present, watches: 0 };
        self.0.entry(namespace.to_owned()).or_insert(counted).watches += 1;
    }

    /// A watch of a namespace ends. The last one ends the count.
    pub(super) fn end(&mut self, namespace: &str) {
        let Some(counted) = self.0.get_mut(namespace) else { return };
        counted.watches -= 1;
        if counted.watches == 0 {
            self.0.remove(namespace);
        }
    }

    pub(super) fn enter(&mut self, namespace: Option<&str>) {
        self.counted(namespace).into_iter().for_each(|count| *count += 1);
    }

    pub(super) fn leave(&mut self, namespace: Option<&str>) {
        self.counted(namespace).into_iter().for_each(|count| *count -= 1);
    }

    /// How many there are, if the namespace is counted.
    pub(super) fn of(&self, namespace: &str) -> Option<usize> {
        self.0.get(namespace).map(|counted| counted.objects)
    }

    fn counted(&mut self, namespace: Option<&str>) -> Option<&mut usize> {
        self.0.get_mut(namespace?).map(|counted| &mut counted.objects)
    }
}
