//! The behaviour of the whole, on the embedded API server and on the real control plane.
//!
//! `OPERETTA_TEST_CLUSTER=embedded|controlplane|kubeconfig` chooses; the default is `embedded`. The
//! tests assert the state of the world, not the calls made, and wait for it with a deadline.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "arguments are literals of JSON")]
#![allow(clippy::wildcard_imports, reason = "a file uses the helpers of its folder")]

use std::process::ExitCode;

mod cleaner;
mod cluster;
mod kind;
mod link;
mod needs;
mod recipe;
mod started;
mod told;
mod world;

mod access;
mod backoff;
mod bad_input;
mod builtins;
mod child_status;
mod children;
mod commands;
mod crowd;
mod deletion;
mod differential;
mod drift;
mod events;
mod explain;
mod faults;
mod fights;
mod finalizing;
mod handlers;
mod hostile;
mod hostile_farewell;
mod hostile_status;
mod interlock;
mod isolation;
mod kubernetes_events;
mod lists;
mod meanwhile;
mod missing_type;
mod neighbours;
mod ownership;
mod pausing;
mod permissions;
mod policies;
mod releases;
mod resync;
mod roperator_defects;
mod roperator_parity;
mod scheduling;
mod scopes;
mod selection;
mod sentinel;
mod shared_status;
mod sharing;
mod sizes;
mod status;
mod takeover;
mod uncollectable;
mod watch;

fn main() -> ExitCode {
    operetta_harness::main()
}
