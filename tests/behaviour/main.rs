//! The behaviour of the whole framework, on the embedded API server and on the real control plane.
//!
//! `OPERETTA_TEST_CLUSTER=embedded|controlplane[:VERSION]|kubeconfig` chooses; the default is `embedded`. The
//! tests assert the state of the world, not the calls made, and wait for it with a deadline.
//!
//! Tests with the mark `server`, `#[operetta_harness::test(server)]`, depend on what the API server does: validation,
//! apply, admission, permissions, deletion, watches, schemas, Leases. There is one for each such thing, to be run on
//! the real control plane too. What scripts (`tests/testdata`) or tables beside the code can show is not tested here.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "arguments are literals of JSON")]
#![allow(clippy::wildcard_imports, reason = "a file uses the helpers of its folder")]

use std::process::ExitCode;

mod children;
mod config_propagation;
mod conflicts;
mod crd;
mod database;
mod decorators;
mod deletion;
mod deployment_scaler;
mod faults;
mod handlers;
mod hostile;
mod leadership;
mod order;
mod ownership;
mod plan_mode;
mod privileges;
mod recipes;
mod registration;
mod related;
mod restarts;
mod rollout;
mod roperator;
mod scheduling;
mod shards;
mod skew;
mod status;
mod stuck;
mod support;
mod watches;
mod web;
mod webhooks;

use support::{
    cleaner, cluster, failed, killed, kind, kubelet, link, logged, needs, recipe, reported,
    started, world,
};

/// Some tests start this program again, as a process of operators.
fn main() -> ExitCode {
    shards::chaos::run_if_asked().unwrap_or_else(operetta_harness::main)
}
