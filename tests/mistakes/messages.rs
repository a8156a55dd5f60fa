//! Each file of `cases/` is a mistake, and its `.stderr` is what the compiler says of it, as of the Rust of `rust-version`.
//! `TRYBUILD=overwrite` writes those files again. So what has to be in them is said here once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod sentences;

use std::{collections::BTreeSet, fs, path::Path};

use sentences::{OURS, OWN_WORDS};

/// Compiled one by one, so it comes first in what takes long.
#[test]
fn each_mistake_has_its_message() {
    trybuild::TestCases::new().compile_fail("cases/*.rs");
}

#[test]
fn the_first_error_of_each_mistake_says_what_to_write() {
    for (case, sentence) in OURS.iter().chain(OWN_WORDS) {
        let messages = read(case, "stderr");
        let first = first_error(&messages);
        let is_said = words(first).contains(&words(sentence));
        assert!(is_said, "{case}: the first error does not say `{sentence}`:\n{first}");
    }
}

#[test]
fn each_case_is_listed_and_says_what_the_mistake_is() {
    let listed: BTreeSet<_> =
        OURS.iter().chain(OWN_WORDS).map(|(case, _)| (*case).to_owned()).collect();
    let files: BTreeSet<_> = files("rs").collect();
    assert_eq!(files, listed, "`sentences.rs` lists each case once");
    assert_eq!(files, self::files("stderr").collect(), "each case has its messages");
    for case in files {
        let source = read(&case, "rs");
        let about = source.lines().next().unwrap_or_default();
        let is_complete = about.starts_with("//! ") && about.contains(": ") && about.ends_with('.');
        assert!(is_complete, "{case} begins with the mistake, and what to write: `{about}`");
    }
}

/// What a clone elsewhere, or another version of a crate, has in another place.
#[test]
fn no_message_names_a_place_of_this_machine() {
    for case in files("stderr") {
        let messages = read(&case, "stderr");
        let place = messages.split_whitespace().find(|word| {
            let word = word.trim_start_matches(['`', '"', '\'', '(']);
            word.starts_with('/') && word.len() > 3 && !word.starts_with("//")
                || word.contains("/src/") && !word.contains('$')
        });
        let foreign = place.filter(|_| true);
        assert_eq!(foreign, None, "{case}");
    }
}

fn files(extension: &'static str) -> impl Iterator<Item = String> {
    let cases = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    cases
        .filter(move |path| path.extension().is_some_and(|it| it == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
}

fn read(case: &str, extension: &str) -> String {
    let path = folder().join(case).with_extension(extension);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"))
}

/// Up to the next error.
fn first_error(messages: &str) -> &str {
    let begun = messages.find("error").unwrap_or_default();
    let rest = &messages[begun + 1..];
    let end = rest.find("\nerror").map_or(messages.len(), |end| begun + 1 + end);
    &messages[begun..end]
}

/// The text in one line: the compiler breaks lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
