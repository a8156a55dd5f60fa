//! The crate on its own: what `cargo package` takes along.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
    process::Command,
};

/// How many bytes the files of the package may have, uncompressed.
const SIZE: u64 = 4 << 20;

#[operetta_harness::test]
fn the_package_has_every_file_that_its_sources_include_and_none_of_its_recorded_answers() {
    let files = packaged();
    for name in ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "data/NOTICE"] {
        assert!(files.contains(Path::new(name)), "{name} is missing");
    }
    let sources = files.iter().filter(|file| file.extension().is_some_and(|it| it == "rs"));
    for source in sources.filter(|source| !is_test(source)) {
        for included in included(source) {
            let is_test_data = included.components().any(|it| it.as_os_str() == "testdata");
            assert!(is_test_data || files.contains(&included), "{} is missing", included.display());
        }
    }
    let size = |file: &PathBuf| fs::metadata(root().join(file)).map_or(0, |it| it.len());
    let total: u64 = files.iter().map(size).sum();
    assert!(total < SIZE, "{total} bytes");
}

/// The files of the package; those that cargo adds are not on disk.
fn packaged() -> BTreeSet<PathBuf> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["package", "--list", "--allow-dirty", "--offline", "--quiet"]);
    let output = command.current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(PathBuf::from).collect()
}

/// The files that a source includes, seen from the root of the package.
fn included(source: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(root().join(source)).unwrap();
    let arguments = text.split("include_str!(\"").skip(1);
    let names = arguments.filter_map(|rest| rest.split_once('"')).map(|(name, _)| name);
    names.map(|name| normalised(&source.with_file_name(name))).collect()
}

fn normalised(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut all, part| {
        match part {
            Component::ParentDir => drop(all.pop()),
            other => all.push(other),
        }
        all
    })
}

fn is_test(source: &Path) -> bool {
    source.file_stem().is_some_and(|stem| stem == "tests")
        || source.components().any(|part| part.as_os_str() == "tests")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
