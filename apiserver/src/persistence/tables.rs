//! The tables of the file within one transaction.

use redb::{
    Error, ReadableTable, ReadableTableMetadata, StorageError, Table, TableDefinition, TableError,
    WriteTransaction,
};

use super::record::{self, KeyRow, ObjectRow};
use crate::log::{Backup, Committed};

type Definition<K, V> = TableDefinition<'static, K, V>;

/// The objects as of the floor.
pub(super) const STATES: Definition<KeyRow<'static>, ObjectRow<'static>> =
    Definition::new("states");
/// The revisions after the floor, by their versions.
pub(super) const REVISIONS: Definition<u64, (KeyRow<'static>, ObjectRow<'static>)> =
    Definition::new("revisions");
/// One row: the version that the states are at.
pub(super) const FLOOR: Definition<(), u64> = Definition::new("floor");

/// The tables in a transaction.
pub(super) struct Tables<'t> {
    states: Table<'t, KeyRow<'static>, ObjectRow<'static>>,
    revisions: Table<'t, u64, (KeyRow<'static>, ObjectRow<'static>)>,
    floor: Table<'t, (), u64>,
}

impl<'t> Tables<'t> {
    /// Opens them, or creates them.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, TableError> {
        Ok(Self {
            states: transaction.open_table(STATES)?,
            revisions: transaction.open_table(REVISIONS)?,
            floor: transaction.open_table(FLOOR)?,
        })
    }

    /// The number of revisions.
    pub(super) fn count(&self) -> Result<u64, StorageError> {
        self.revisions.len()
    }

    /// Sets the version that the states are at.
    pub(super) fn set_floor(&mut self, version: u64) -> Result<(), StorageError> {
        self.floor.insert((), version).map(drop)
    }

    /// Adds the newest revision; returns its size.
    pub(super) fn append(&mut self, committed: &Committed) -> Result<u64, StorageError> {
        let Committed { resource, revision } = committed;
        let json = revision.object.json();
        let key = record::key_row(resource, &revision.key);
        let object = record::object_row(&revision.object, &json);
        self.revisions.insert(revision.version, (key, object))?;
        Ok(json.len() as u64)
    }

    /// Folds the revisions up to a version into the states; returns their size.
    pub(super) fn fold(&mut self, version: u64) -> Result<u64, Error> {
        let mut size = 0;
        while self.revisions.first()?.is_some_and(|(oldest, _)| oldest.value() <= version) {
            size += self.fold_oldest()?;
        }
        Ok(size)
    }

    /// Folds the oldest revision into the states; returns its size.
    pub(super) fn fold_oldest(&mut self) -> Result<u64, Error> {
        let Some((version, row)) = self.revisions.pop_first()? else { return Ok(0) };
        let (key, object) = row.value();
        if record::is_deletion(object) {
            self.states.remove(key)?;
        } else {
            self.states.insert(key, object)?;
        }
        self.floor.insert((), version.value())?;
        Ok(object.2.len() as u64)
    }

    /// Replaces everything.
    pub(super) fn replace(&mut self, backup: &Backup) -> Result<(), StorageError> {
        self.states.retain(|_, _| false)?;
        self.revisions.retain(|_, _| false)?;
        for (resource, states) in &backup.tables {
            for (key, object) in states.iter() {
                let json = object.json();
                let row = record::object_row(object, &json);
                self.states.insert(record::key_row(resource, key), row)?;
            }
        }
        self.set_floor(backup.head)
    }
}
