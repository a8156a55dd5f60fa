//! A copy of the data of etcd, taken and restored while etcd is stopped.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::home::{Home, random_hex};

/// The data of etcd at one moment, see [`ControlPlane::backup`](crate::ControlPlane::backup). Its files are removed
/// with those of the control plane.
#[derive(Debug)]
pub struct Backup(PathBuf);

impl Backup {
    pub(crate) fn new(home: &Home) -> Result<Self, Error> {
        Ok(Self(home.join(&format!("backup-{}", random_hex()?))))
    }

    pub(crate) fn take(&self, data: &Path) -> Result<(), Error> {
        copy(data, &self.0)
    }

    pub(crate) fn put_back(&self, data: &Path) -> Result<(), Error> {
        fs::remove_dir_all(data).map_err(Error::io("removing", data))?;
        copy(&self.0, data)
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir(to).map_err(Error::io("creating", to))?;
    for entry in fs::read_dir(from).map_err(Error::io("reading", from))? {
        let source = entry.map_err(Error::io("reading", from))?.path();
        let target = to.join(source.file_name().unwrap_or_default());
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target).map_err(Error::io("copying", &source))?;
        }
    }
    Ok(())
}
