//! Admission on the embedded server and on the real control plane: every answer must be the same, and every
//! call of a webhook.
//!
//! ```text
//!  a scene: objects that configure it, then steps ─┬─> embedded server ─┐
//!                        ▲                         └─> kube-apiserver ──┴─ answers and calls, masked ─ equal?
//!                        └ a webhook server of the test, on loopback
//! ```
//!
//! Without the programs of the real control plane the tests are ignored.

#![allow(
    clippy::unwrap_used,
    clippy::unwrap_in_result,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::format_push_string,
    clippy::needless_for_each,
    clippy::needless_pass_by_value,
    clippy::similar_names,
    clippy::too_many_lines,
    clippy::type_complexity,
    clippy::unnecessary_wraps,
    reason = "a scene is a table of objects and steps"
)]

mod conversion;
mod hook;
mod mask;
mod mutating_policies;
mod pair;
mod policies;
mod quotas;
mod webhooks;

use std::process::ExitCode;

fn main() -> ExitCode {
    operetta_harness::main()
}
