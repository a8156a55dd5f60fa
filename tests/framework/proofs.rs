//! The tests that documents name as proofs.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Where the tests are.
const SOURCES: [&str; 6] =
    ["src", "tests", "operators", "apiserver/src", "apiserver/tests", "roperator"];

/// The names of all functions that are tests.
pub(crate) fn tests() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in SOURCES {
        rust_files(&root().join(folder), &mut files);
    }
    files.iter().flat_map(|file| tests_in(&fs::read_to_string(file).unwrap())).collect()
}

fn tests_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]"
            || line.starts_with("#[tokio::test")
            || line.contains("_web::test]")
            || line.starts_with("#[operetta_harness::test")
        {
            is_test = true;
        } else if let Some((_, rest)) = line.split_once("fn ") {
            let name = rest.split('(').next().unwrap_or_default();
            names.extend(is_test.then(|| name.to_owned()));
            is_test = false;
        }
    }
    names
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The rows of the table below a heading, without its head.
pub(crate) fn rows<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let below = text.lines().skip_while(|line| *line != heading).skip(1);
    let section = below.take_while(|line| !line.starts_with("## "));
    section.filter(|line| line.starts_with('|')).skip(2).collect()
}

/// The texts between backticks, line by line.
pub(crate) fn backticked(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
