//! The programs and the integration tests of roperator, unchanged, as operators of Operetta.
//!
//! They find their cluster by a kubeconfig. So this program starts the cluster that `OPERETTA_TEST_CLUSTER`
//! chooses, and then itself once more, with the kubeconfig of it, to run the tests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

// The tests of roperator are marked with `#[test]`, which is then that of the harness.
#[macro_use]
extern crate operetta_harness_macros;

use std::{
    env,
    process::{Command, ExitCode},
};

mod cluster;
mod echo_server;
mod program;
mod runtime;
mod temp_namespace;
mod unchanged;
mod world;

#[rustfmt::skip]
#[path = "../../upstream/integration_tests.rs"]
#[allow(clippy::all, clippy::pedantic, reason = "not of this repository")]
mod upstream;

/// Set in the process that runs the tests.
const INSIDE: &str = "OPERETTA_ROPERATOR_TESTS_INSIDE";

fn main() -> ExitCode {
    let is_list = env::args().any(|argument| argument == "--list");
    if is_list || env::var_os(INSIDE).is_some() {
        return operetta_harness::main();
    }
    cluster::with_kubeconfig(|kubeconfig| {
        let mut tests = Command::new(env::current_exe().unwrap());
        tests.args(env::args_os().skip(1)).env("KUBECONFIG", kubeconfig).env(INSIDE, "1");
        let status = tests.status().unwrap();
        status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8))
    })
}
