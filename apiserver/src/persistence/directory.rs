//! The data directory: its format, and small files that only its owner may read.
//!
//! The objects in it are the concern of [`super::store`], which also locks it.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use super::DataDirectoryError;
use crate::private_file::{self, DRAFT};

/// The newest known format.
const FORMAT: u64 = 1;
/// The file that makes a directory a data directory.
const FORMAT_FILE: &str = "format";

/// A data directory.
#[derive(Debug, Clone)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// Finds a data directory; whether it is one that [`finish`](Self::finish) has to complete.
    pub(super) fn open(path: &Path) -> Result<(Self, bool), DataDirectoryError> {
        let failed = |source| DataDirectoryError::io(path, source);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let directory = Self(path.canonicalize().map_err(failed)?);
        let format = directory.read(FORMAT_FILE)?;
        match &format {
            Some(format) => directory.check_format(format)?,
            None if directory.is_empty()? => {}
            None => return Err(DataDirectoryError::Foreign { path: directory.0 }),
        }
        fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        Ok((directory, format.is_none()))
    }

    /// Marks a new directory as a data directory, after everything that belongs to it is there.
    pub(super) fn finish(&self) -> Result<(), DataDirectoryError> {
        self.write(FORMAT_FILE, &format!("{FORMAT}\n"))
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The text of a file, if it exists.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, DataDirectoryError> {
        let path = self.0.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(DataDirectoryError::damaged(&path, "it is not text"))
            }
            Err(source) => Err(DataDirectoryError::io(&path, source)),
        }
    }

    /// Writes a file that only its owner may read; after a crash it has the old or the new text.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), DataDirectoryError> {
        let path = self.0.join(name);
        private_file::write(&path, text).map_err(|source| DataDirectoryError::io(&path, source))?;
        self.sync()
    }

    /// That a file of the directory is damaged.
    pub(crate) fn damaged(&self, name: &str, why: impl Into<String>) -> DataDirectoryError {
        DataDirectoryError::damaged(&self.0.join(name), why)
    }

    /// Makes the names in the directory durable.
    fn sync(&self) -> Result<(), DataDirectoryError> {
        let sync = || fs::File::open(&self.0)?.sync_all();
        sync().map_err(|source| DataDirectoryError::io(&self.0, source))
    }

    fn check_format(&self, text: &str) -> Result<(), DataDirectoryError> {
        match text.trim().parse() {
            Ok(1..=FORMAT) => Ok(()),
            Ok(found) if found > FORMAT => {
                Err(DataDirectoryError::Newer { path: self.0.clone(), found, known: FORMAT })
            }
            Ok(_) | Err(_) => {
                let why = "it holds no known format number";
                Err(DataDirectoryError::damaged(&self.0.join(FORMAT_FILE), why))
            }
        }
    }

    /// Whether there is nothing but what an interrupted start left.
    fn is_empty(&self) -> Result<bool, DataDirectoryError> {
        let failed = |source| DataDirectoryError::io(&self.0, source);
        for entry in fs::read_dir(&self.0).map_err(failed)? {
            if !is_left_over(&entry.map_err(failed)?.file_name().to_string_lossy()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether an interrupted first start leaves a file of this name.
fn is_left_over(name: &str) -> bool {
    let is_draft = name.starts_with(FORMAT_FILE) && name.ends_with(DRAFT);
    is_draft || name == super::store::FILE
}
