//! The private folder of one control plane: keys, kubeconfigs, data and logs. It is removed when it is dropped.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::Error;

#[derive(Debug)]
pub(crate) struct Home {
    path: PathBuf,
}

impl Home {
    pub(crate) fn create() -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("operetta-controlplane-{}", random_hex()?));
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(Error::io("creating", &path))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file that only this user may read, or replaces it.
    pub(crate) fn write(&self, name: &str, content: &str) -> Result<PathBuf, Error> {
        let path = self.join(name);
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(content.as_bytes()))
            .map_err(Error::io("writing", &path))?;
        Ok(path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A folder that cannot be removed does not fail a test.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// 128 unpredictable bits as text.
pub(crate) fn random_hex() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
