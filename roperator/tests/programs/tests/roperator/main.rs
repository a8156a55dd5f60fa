//! Programs and tests that use the names of roperator, as operators of Operetta.
//!
//! They find their cluster by a kubeconfig. So this program starts the cluster that `OPERETTA_TEST_CLUSTER`
//! chooses, and then itself once more, with the kubeconfig of it, to run the tests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    env,
    process::{Command, ExitCode},
};

mod cluster;
mod market_stall;
mod names;
mod orchard;
mod program;
mod published;
mod queue_worker;
mod runtime;
mod types;
mod world;

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
        let code = tests.status().unwrap().code().and_then(|code| u8::try_from(code).ok());
        code.map_or(ExitCode::FAILURE, ExitCode::from)
    })
}
