//! Files of a test, which nobody else can know before they exist.

use std::{
    env,
    fs::{self, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    ops::Deref,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Writes a file beside its place and renames it: a link in its place is replaced, not followed.
///
/// # Errors
///
/// If it cannot be written or renamed.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", random()));
    let draft = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
    file.write_all(content.as_ref())?;
    fs::rename(draft, path)
}

fn random() -> String {
    let [high, low] = [(); 2].map(|()| RandomState::new().hash_one(()));
    format!("{high:016x}{low:016x}")
}

/// An empty folder that is removed with it. Only this user can read it, and nobody else can know its name before it exists.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new one in the folder of the system for temporary files.
    ///
    /// # Panics
    ///
    /// If it cannot be made.
    #[must_use]
    pub fn new() -> Self {
        let path = env::temp_dir().join(format!("operetta-{}", random()));
        fs::DirBuilder::new().mode(0o700).create(&path).expect("a new folder can be made");
        Self(path)
    }

    /// Writes a file in it; returns its path.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.0.join(name);
        fs::write(&file, content).expect("a file of a test can be written");
        file
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed does not fail a test.
        let _ = fs::remove_dir_all(&self.0);
    }
}
