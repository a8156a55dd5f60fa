//! Checks `roperator/docs/porting.md`: each test and file that it names exists, every row of its tables of
//! defects names one, and every known defect and limit has a row.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const DOCUMENT: &str = "roperator/docs/porting.md";

/// The tables whose rows end with tests.
const PROVEN: [&str; 2] = ["## Defects that are absent", "## Limits that are lifted"];

/// Where the tests are.
const SOURCES: [&str; 6] =
    ["src", "tests", "operators", "apiserver/src", "apiserver/tests", "roperator"];

#[test]
fn every_test_that_the_text_names_exists() {
    let tests = tests();
    let text = document();
    // Tables also name items of roperator; the next test checks those that name tests.
    let prose = text.lines().filter(|line| !line.starts_with('|'));
    let named: Vec<&str> = prose.flat_map(backticked).filter(|name| is_sentence(name)).collect();
    let missing: Vec<_> = named.iter().filter(|name| !tests.contains(**name)).collect();
    assert!(named.len() >= 10, "the document names {} tests", named.len());
    assert!(missing.is_empty(), "named in {DOCUMENT} and not found: {missing:#?}");
}

#[test]
fn every_row_of_a_defect_or_limit_names_a_test_or_file() {
    let (tests, text) = (tests(), document());
    for heading in PROVEN {
        let rows = rows(&text, heading);
        assert!(rows.len() > 5, "{heading} has {} rows", rows.len());
        for row in rows {
            let proof = row.trim_end_matches('|').rsplit('|').next().unwrap();
            let is_there = |name: &str| tests.contains(name) || root().join(name).is_file();
            let named: Vec<&str> = backticked(proof).collect();
            assert!(!named.is_empty() && named.iter().all(|name| is_there(name)), "{row}");
        }
    }
}

#[test]
fn each_known_defect_and_limit_is_listed() {
    let text = document();
    let numbered = |letter: &str, count: u32| (1..=count).map(|n| format!("{letter}{n}")).collect();
    let defects: BTreeSet<String> = numbers(&text, PROVEN[0]);
    assert_eq!(defects, numbered("A", 16));
    let (_, staying) = text.split_once("\n## Limits that stay\n").unwrap();
    let staying = staying.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let staying: BTreeSet<String> = staying.map(|(number, _)| number.to_owned()).collect();
    let lifted = numbers(&text, PROVEN[1]);
    assert!(lifted.is_disjoint(&staying), "lifted and stays");
    assert_eq!(&lifted | &staying, numbered("B", 7));
}

/// The numbers of the rows below a heading; a row that has none says `-`.
fn numbers(text: &str, heading: &str) -> BTreeSet<String> {
    let first = |row: &str| row.split('|').nth(1).unwrap().trim().to_owned();
    let numbers = rows(text, heading).into_iter().map(first);
    numbers.filter(|number| number != "-").collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn document() -> String {
    fs::read_to_string(root().join(DOCUMENT)).unwrap()
}

/// The rows of the table below a heading, without its head.
fn rows<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let below = text.lines().skip_while(|line| *line != heading).skip(1);
    let section = below.take_while(|line| !line.starts_with("## "));
    section.filter(|line| line.starts_with('|')).skip(2).collect()
}

/// The texts between backticks, line by line.
fn backticked(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Whether a name looks like that of a test: at least five words.
fn is_sentence(name: &str) -> bool {
    let is_name = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name && name.split('_').count() > 4
}

/// The names of all functions that are tests.
fn tests() -> BTreeSet<String> {
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
