//! The embedded API server, as its clients see it. One program, because linking each subject apart takes longer than
//! running it.
//!
//! What is exhaustive is ignored; its reason names the part that runs it. Other tests are ignored where the programs of
//! the real control plane are not built.

#![allow(
    clippy::unwrap_used,
    clippy::unwrap_in_result,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::needless_pass_by_value,
    clippy::similar_names,
    clippy::too_many_lines,
    clippy::unnecessary_wraps,
    reason = "a scene is a table of objects and steps"
)]
#![allow(clippy::unused_async, reason = "a server needs a runtime")]

mod account_tokens;
mod admission;
mod bootstrap;
mod both_servers;
mod built_in;
mod client_certificates;
mod columns_of_tables;
mod common;
mod connections;
mod consistency;
mod controller_runtime;
mod custom_definitions;
mod custom_resources;
mod differential;
mod hostile;
mod in_five_lines;
mod kubectl;
mod kubectl_alike;
mod lifecycle;
mod nesting;
mod objects;
mod options_alike;
mod package;
mod persistence;
mod printer_columns;
mod protection;
mod protobuf;
mod published;
mod rbac;
mod rbac_alike;
mod readme;
mod recording;
mod refusals;
mod reviews;
mod rules;
mod shapes;
mod sharded_lists;
mod simulation;
mod subresources;
mod tls;
mod validation;
mod watch_guarantees;
mod watching;

use std::process::ExitCode;

fn main() -> ExitCode {
    operetta_harness::main()
}
