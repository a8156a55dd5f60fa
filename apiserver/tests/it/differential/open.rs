//! The classes of differences that are not mended yet.

use std::{collections::BTreeSet, fs, path::Path};

use super::Found;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/differential/open.txt");

/// Before a class that is not seen in every run: the real server or the order of requests decides.
const SOMETIMES: &str = "~ ";

/// The classes of the file.
///
/// # Panics
/// If one was not found that is seen in every run: it must leave the file.
pub(crate) fn classes(found: &Found) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(FILE)).unwrap_or_default();
    let (sometimes, open): (BTreeSet<&str>, BTreeSet<&str>) =
        text.lines().partition(|line| line.starts_with(SOMETIMES));
    let sometimes: BTreeSet<&str> =
        sometimes.into_iter().map(|line| line.trim_start_matches(SOMETIMES)).collect();
    let now: BTreeSet<&str> = found.classes.keys().map(String::as_str).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let lines = sometimes.iter().map(|class| format!("{SOMETIMES}{class}\n"));
        let others = now.difference(&sometimes).map(|class| format!("{class}\n"));
        fs::write(FILE, others.chain(lines).collect::<String>()).unwrap();
        return now.union(&sometimes).map(|class| (*class).to_owned()).collect();
    }
    let mended: Vec<_> = open.difference(&now).collect();
    assert!(mended.is_empty(), "not seen any more, UPDATE_EXPECT=1 removes them: {mended:#?}");
    open.union(&sometimes).map(|class| (*class).to_owned()).collect()
}
