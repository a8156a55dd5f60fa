//! Files of cases that are still answered differently than by the real server. They may only shrink.

use std::{collections::BTreeSet, fs, path::Path};

/// The cases of a file, of which each must differ `now`. With `UPDATE_EXPECT=1` it becomes those of now, under a comment
/// that says why, and there are none to hold.
pub(crate) fn open_cases(file: &Path, why: &str, now: &BTreeSet<&str>) -> Option<BTreeSet<String>> {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let lines: Vec<_> = now.iter().map(|line| format!("{line}\n")).collect();
        fs::write(file, format!("{why}\n{}", lines.concat())).unwrap();
        return None;
    }
    let text = fs::read_to_string(file).unwrap();
    let open = text.lines().filter(|line| !line.starts_with('#'));
    let (differing, same): (BTreeSet<&str>, BTreeSet<&str>) = open.partition(|it| now.contains(it));
    assert!(same.is_empty(), "the same now, UPDATE_EXPECT=1 removes them: {same:#?}");
    Some(differing.into_iter().map(str::to_owned).collect())
}
