//! The command line of a program with operators: it runs them, prints what deploys them, and asks a running process.
//!
//! ```no_run
//! # use operetta::prelude::*;
//! # fn config() -> OperatorConfig { unimplemented!() }
//! # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
//! fn main() -> std::process::ExitCode {
//!     operetta::cli::run(Supervisor::builder().register(config(), sync))
//! }
//! ```
//!
//! ```text
//! program [run]                                 on the cluster of the environment; --embedded brings one along
//! program crds | rbac | manifests [--helm]      what a cluster needs for it
//! program plan                                  what it would do, without a write
//! program crds --check FILE                     whether its CRDs may replace those of a file
//! program orphans                               what it left behind of types that it does not declare any more
//! program migrate                               writes objects again that are stored in an old version of their type
//! program status | explain | pause | resume | sync    of a running process
//! program completions
//! ```
//!
//! Each flag has an environment variable: `--listen` is also `OPERETTA_LISTEN`. `--only` narrows all commands to some of the
//! operators. The feature `otlp` adds traces. Layer 12.
//!
//! The exit code is 0, 1 after an error, and 2 for `plan` where something would be changed and for `crds --check` where a
//! change is not safe.

mod address;
mod ask;
mod command_line;
mod crd_check;
mod crds;
mod deployed;
mod deployment;
mod documents;
mod endpoint;
mod failure;
mod flags;
mod header;
mod ignored;
mod legible_lines;
mod manifest_files;
mod migrate;
mod near;
mod only;
mod orphans;
mod perform;
mod plan;
mod program;
mod rbac;
mod replaced;
mod run;
mod settings;
mod table;
mod telemetry;
#[cfg_attr(not(feature = "otlp"), path = "no_traces.rs")]
mod traces;

use std::process::ExitCode;

pub use deployed::Deployed;
pub use program::Program;
pub use rbac::permissions;
#[cfg(all(feature = "otlp", feature = "testkit"))]
pub use traces::Traces;

use crate::supervisor::SupervisorBuilder;

/// Parses the command line and performs the command, for the operators of a supervisor; returns when it is done. See
/// [`Program`] for what can be set.
///
/// What flags set, such as the cluster and the web endpoint, replaces what was set before. Logs are set up, so that the
/// program must not.
pub fn run(supervisor: SupervisorBuilder) -> ExitCode {
    Program::new(supervisor).run()
}
