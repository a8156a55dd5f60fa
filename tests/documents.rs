//! The tests that ARCHITECTURE.md names for its guarantees exist below `tests/behaviour`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path};

#[test]
fn the_tests_that_the_guarantees_name_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let named = text.split("`b/").skip(1).map(|rest| rest.split('`').next().unwrap());
    let named: Vec<String> = named.filter(|name| !name.is_empty()).flat_map(each).collect();
    let is_there = |name: &&String| {
        let path = root.join("tests/behaviour").join(name);
        path.is_dir() || path.with_extension("rs").is_file()
    };
    assert!(named.len() > 15, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// `a/{b,c}` names two.
fn each(name: &str) -> Vec<String> {
    let Some((folder, files)) = name.split_once('{') else { return vec![name.to_owned()] };
    files.trim_end_matches('}').split(',').map(|file| format!("{folder}{file}")).collect()
}
