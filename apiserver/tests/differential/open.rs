//! The classes of differences that are not mended yet.

use std::{collections::BTreeSet, fs, path::Path};

use super::Found;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/open.txt");

/// The classes of the file.
///
/// # Panics
/// If one was not found: it must leave the file.
pub(crate) fn classes(found: &Found) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(FILE)).unwrap_or_default();
    let open: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let now: BTreeSet<String> = found.classes.keys().cloned().collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let lines: Vec<_> = now.iter().map(|class| format!("{class}\n")).collect();
        fs::write(FILE, lines.concat()).unwrap();
        return now;
    }
    let mended: Vec<_> = open.difference(&now).collect();
    assert!(mended.is_empty(), "not seen any more, UPDATE_EXPECT=1 removes them: {mended:#?}");
    open
}
