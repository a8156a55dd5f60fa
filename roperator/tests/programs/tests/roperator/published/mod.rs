//! What was published as the crate `roperator` 0.3.0, built with `operetta-roperator`: its examples as processes, and
//! its own tests. `.ci/long roperator` takes it from the registry and says in `OPERETTA_ROPERATOR_PUBLISHED` where the
//! programs are. Nothing of it is in this repository.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

mod echo_server;
mod temp_namespace;

/// A program that was built of what was published.
fn program(name: &str) -> PathBuf {
    let folder = env::var_os("OPERETTA_ROPERATOR_PUBLISHED");
    Path::new(&folder.expect("it is set by `.ci/long roperator`")).join(name)
}

#[operetta_harness::test]
#[ignore = "takes a crate from the registry: .ci/long roperator"]
fn the_published_tests_pass() {
    let status = Command::new(program("integration_tests")).status().unwrap();
    assert!(status.success(), "{status}");
}
