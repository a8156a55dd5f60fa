//! Files that only their owner may read. Each is written under a name that nobody can foresee, and then renamed: a link that
//! somebody put in its place is replaced, not followed, and after a crash there is the old text or the new one.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// How the name of a file ends that is not renamed yet.
pub(crate) const DRAFT: &str = ".draft";

/// Writes a file, or replaces it.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let draft = beside(path)?;
    let written = fill(&draft, text).and_then(|()| fs::rename(&draft, path));
    written.inspect_err(|_| {
        // What is wrong with the file is the error, not what is left of it.
        let _ = fs::remove_file(&draft);
    })
}

/// Creates an empty file that does not exist. A link in its place is an error.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn fill(draft: &Path, text: &str) -> io::Result<()> {
    let mut file = create(draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// `config.<32 hexadecimal digits>.draft` beside `config`.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:032x}{DRAFT}", u128::from_be_bytes(random)));
    Ok(path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use operetta_harness::Folder;

    use super::*;

    #[test]
    fn a_file_is_for_its_owner_alone_and_nothing_is_left_beside_it() {
        let folder = Folder::new();
        let file = folder.join("config");
        for text in ["old", "new"] {
            write(&file, text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        }
        fs::create_dir(folder.join("occupied")).unwrap();
        write(&folder.join("occupied"), "text").unwrap_err();
        assert_eq!(fs::read_dir(&*folder).unwrap().count(), 2, "no draft");
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = Folder::new();
        let (file, victim) = (folder.join("config"), folder.join("victim"));
        fs::write(&victim, "precious").unwrap();
        let own = folder.join(format!("config.{}", std::process::id()));
        for link in [file.clone(), own, folder.join("config.draft")] {
            symlink(&victim, link).unwrap();
        }
        write(&file, "text").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(fs::symlink_metadata(&file).unwrap().is_file());
        symlink(folder.join("missing"), folder.join("dangling")).unwrap();
        create(&folder.join("dangling")).unwrap_err();
        assert!(!folder.join("missing").exists());
    }
}
