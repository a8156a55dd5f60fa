//! Shows the migrations of types in the operators of their parents.

use super::{Board, Change, Migration};
use crate::object::K8sType;

impl Board {
    /// Shows the migration of a type in the operators whose parents have it; `None` if there is none.
    pub(crate) fn set_migration(&self, resource: &str, migration: Option<Migration>) {
        let mut contents = self.write();
        let before = match migration {
            Some(now) => contents.migrations.insert(resource.to_owned(), now),
            None => contents.migrations.remove(resource),
        };
        if before.as_ref() == contents.migrations.get(resource) {
            return;
        }
        let shown: Vec<Change> = contents.changes_of_parents(resource);
        self.notify(&contents, shown);
    }

    /// The migration of the type of these parents.
    pub(crate) fn migration(&self, parent: &K8sType) -> Option<Migration> {
        self.read().migrations.get(&parent.resource_name()).cloned()
    }
}
