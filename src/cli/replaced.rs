//! Files that are written beside their place, under a name that nobody can foresee, and then renamed: a link in their place
//! is replaced, not followed.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use uuid::Uuid;

/// Writes a file, or replaces it.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", Uuid::new_v4()));
    let draft = path.with_file_name(name);
    let written = fill(&draft, text).and_then(|()| fs::rename(&draft, path));
    written.inspect_err(|_| {
        // What is wrong with the file is the error, not what is left of it.
        let _ = fs::remove_file(&draft);
    })
}

fn fill(draft: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(draft)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let folder = operetta_harness::Folder::new();
        let (file, victim) = (folder.join("crds.yaml"), folder.join("victim"));
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, &file).unwrap();
        for text in ["old", "new"] {
            replace(&file, text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        replace(&folder, "text").unwrap_err();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::read_dir(&*folder).unwrap().count(), 2, "no draft");
    }
}
