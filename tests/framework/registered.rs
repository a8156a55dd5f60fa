//! Every test of a program with `harness = false` is registered there: such a program silently skips `#[test]`
//! and `#[tokio::test]`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The sources of these programs.
const PROGRAMS: [&str; 6] = [
    "tests/behaviour",
    "tests/browser",
    "tests/controlplane/tests",
    "operators/tests",
    "apiserver/tests/it",
    "examples/website/tests",
];

#[test]
fn every_test_of_a_program_with_its_own_harness_is_registered() {
    let mut files = Vec::new();
    for program in PROGRAMS {
        rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(program), &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    let unregistered: Vec<String> = files.iter().flat_map(|file| unregistered_in(file)).collect();
    assert!(unregistered.is_empty(), "use #[operetta_harness::test]: {unregistered:#?}");
}

fn unregistered_in(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().map(str::trim).enumerate();
    let unregistered = lines
        .filter(|(_, line)| ["#[test]", "#[tokio::test"].iter().any(|it| line.starts_with(it)));
    unregistered.map(|(number, _)| format!("{}:{}", file.display(), number + 1)).collect()
}

fn rust_files(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            rust_files(&entry.unwrap().path(), files);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        files.push(path.to_owned());
    }
}
