//! The files of roperator are those that it published.

use std::{fmt::Write, fs, path::Path};

use ring::digest::{digest, SHA256};

/// The SHA-256 sums of the files in the crate `roperator` 0.3.0.
const SUMS: [(&str, &str); 3] = [
    ("echo-server/main.rs", "5808e0a9f059e9204d73a78b47ab0a126c6f7289d271f256db2f9ab10d9c2edd"),
    ("integration_tests.rs", "e2b14a4d302760ba2dd5d238df40123b374608264059b7c497077dd7ab7877bc"),
    ("temp-namespace/main.rs", "c8a74f7d7fb925aa80887ae6ba2102ab7210c00bfba15c8a1d85b682ace95185"),
];

#[operetta_harness::test]
fn the_files_of_roperator_are_unchanged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("upstream");
    for (file, sum) in SUMS {
        let bytes = fs::read(folder.join(file)).unwrap();
        let mut found = String::new();
        for byte in digest(&SHA256, &bytes).as_ref() {
            write!(found, "{:02x}", byte).unwrap();
        }
        assert_eq!(found, sum, "{}", file);
    }
}
