//! The file with the objects: tables of a redb database.
//!
//! `states` holds every object as of the version `floor`, `revisions` what happened since then. A restart
//! replays them, so that watches continue. [`Store::write`] is one transaction.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use redb::{Database, DatabaseError, Error, ReadableDatabase, ReadableTable};

use super::{
    DataDirectoryError, record,
    tables::{FLOOR, REVISIONS, STATES, Tables},
};
use crate::{
    log::{Change, Persisted, PersistedRevision},
    private_file,
};

/// The name of the file.
pub(super) const FILE: &str = "objects.redb";
/// How many bytes of the file are cached: it is read at the start only.
const CACHE: usize = 16 << 20;
/// Beside so many revisions more than wanted, the oldest are folded into the states, many at a time.
const SLACK: u64 = 1024;
/// How many bytes of revisions are kept at most.
const HISTORY_BYTES: u64 = 64 << 20;

/// The open file, locked for this process.
#[derive(Debug)]
pub(super) struct Store {
    database: Database,
    path: PathBuf,
    /// How many bytes of revisions there are.
    history_bytes: u64,
}

impl Store {
    /// Opens the file of a data directory and checks every page of it; a new one is empty.
    pub(super) fn open(directory: &Path, is_new: bool) -> Result<Self, DataDirectoryError> {
        let path = directory.join(FILE);
        if is_new {
            create(&path).map_err(|source| DataDirectoryError::io(&path, source))?;
        } else if fs::metadata(&path).map_or(0, |metadata| metadata.len()) == 0 {
            return Err(DataDirectoryError::damaged(&path, "it is missing or empty"));
        }
        let mut builder = Database::builder();
        let builder = builder.set_cache_size(CACHE).set_check_integrity_on_open(!is_new);
        let database = builder.create(&path).map_err(|error| refused(directory, &path, error))?;
        let mut store = Self { database, path, history_bytes: 0 };
        if is_new {
            store.initialise().map_err(|error| failed(&store.path, error))?;
        }
        Ok(store)
    }

    /// Everything in it.
    pub(super) fn read(&mut self) -> Result<Persisted, DataDirectoryError> {
        self.read_tables().map_err(|error| failed(&self.path, error))
    }

    /// Writes changes in order, durably. At least `history` of the newest revisions remain, unless they are
    /// large.
    pub(super) fn write(&mut self, changes: &[Change], history: u64) -> Result<(), Error> {
        let transaction = self.database.begin_write()?;
        let mut tables = Tables::open(&transaction)?;
        for change in changes {
            match change {
                Change::Committed(committed) => self.history_bytes += tables.append(committed)?,
                Change::Compacted(version) => self.history_bytes -= tables.fold(*version)?,
                Change::Restored(backup) => {
                    self.history_bytes = 0;
                    tables.replace(backup)?;
                }
            }
        }
        if tables.count()? > history + SLACK || self.history_bytes > HISTORY_BYTES {
            let mut count = tables.count()?;
            while count > history || self.history_bytes > HISTORY_BYTES / 2 {
                self.history_bytes -= tables.fold_oldest()?;
                count -= 1;
            }
        }
        drop(tables);
        Ok(transaction.commit()?)
    }

    fn initialise(&mut self) -> Result<(), Error> {
        let transaction = self.database.begin_write()?;
        Tables::open(&transaction)?.set_floor(1)?;
        Ok(transaction.commit()?)
    }

    fn read_tables(&mut self) -> Result<Persisted, Error> {
        let unreadable = |what: &str| Error::Corrupted(format!("{what} cannot be read"));
        let transaction = self.database.begin_read()?;
        let floor = transaction.open_table(FLOOR)?.get(())?.map(|row| row.value());
        let floor = floor.ok_or_else(|| unreadable("the version"))?;
        let mut persisted = Persisted { floor, ..Persisted::default() };
        let mut last = None;
        for row in transaction.open_table(STATES)?.iter()? {
            let (key, object) = row?;
            let (resource, key) = record::read_key(key.value(), last.as_ref());
            let object = record::read_object(object.value());
            let object = object.ok_or_else(|| unreadable("an object"))?;
            last = Some(resource.clone());
            let states = persisted.states.entry(resource).or_default();
            states.insert(states.share(key), object);
        }
        self.history_bytes = 0;
        let mut head = floor;
        for row in transaction.open_table(REVISIONS)?.iter()? {
            let (version, row) = row?;
            let (key, object) = row.value();
            self.history_bytes += object.2.len() as u64;
            let (resource, key) = record::read_key(key, last.as_ref());
            let object = record::read_object(object);
            let object = object.filter(|object| object.meta.resource_version == version.value());
            let object = object.ok_or_else(|| unreadable("a revision"))?;
            head += 1;
            if version.value() != head {
                return Err(unreadable("the history"));
            }
            last = Some(resource.clone());
            persisted.revisions.push(PersistedRevision { resource, key, object });
        }
        Ok(persisted)
    }
}

/// What an interrupted first start has left is used. A link is not: it may lead to a file of somebody else.
fn create(path: &Path) -> io::Result<()> {
    let Err(error) = private_file::create(path) else { return Ok(()) };
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() || found.nlink() != 1 {
        return Err(error);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

fn refused(directory: &Path, path: &Path, error: DatabaseError) -> DataDirectoryError {
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
            DataDirectoryError::InUse { path: directory.to_owned() }
        }
        other => failed(path, other.into()),
    }
}

fn failed(path: &Path, error: Error) -> DataDirectoryError {
    match error {
        Error::Io(source) if source.kind() != io::ErrorKind::InvalidData => {
            DataDirectoryError::io(path, source)
        }
        Error::Corrupted(why) => DataDirectoryError::damaged(path, why),
        other => DataDirectoryError::damaged(path, other.to_string()),
    }
}
