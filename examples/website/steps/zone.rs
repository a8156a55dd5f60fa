//! Stands for a DNS server: a folder with a file for each name.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use anyhow::Context;
use operetta::prelude::*;

/// Adds a name, or gives it another target. Doing it twice changes nothing.
pub(crate) fn add(zone: &Path, name: &str, target: &str) -> Result<()> {
    let added = fs::write(zone.join(name), format!("{target}\n"));
    added.with_context(|| format!("cannot add {name} to the zone"))
}

/// Removes a name. It is no error when it is not there.
pub(crate) fn remove(zone: &Path, name: &str) -> Result<()> {
    reach(zone)
        .and_then(|()| removed(&zone.join(name)))
        .with_context(|| format!("cannot remove {name} from the zone"))
}

/// An error where the whole zone is missing.
fn reach(zone: &Path) -> io::Result<()> {
    zone.read_dir().map(drop)
}

fn removed(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
