//! Checks `roperator/docs/porting.md`: each test and file that it names exists, every row of its tables of
//! defects names one, and every known defect and limit has a row.

use std::{collections::BTreeSet, fs};

use crate::proofs::{backticked, root, rows, tests};

const DOCUMENT: &str = "roperator/docs/porting.md";

/// The tables whose rows end with tests.
const PROVEN: [&str; 2] = ["## Defects that are absent", "## Limits that are lifted"];

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

fn document() -> String {
    fs::read_to_string(root().join(DOCUMENT)).unwrap()
}

/// Whether a name looks like that of a test: at least five words.
fn is_sentence(name: &str) -> bool {
    let is_name = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name && name.split('_').count() > 4
}
