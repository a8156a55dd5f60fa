//! Data directories: what survives a restart and a crash, and what is refused.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on")]

#[path = "../common/mod.rs"]
mod common;
mod crash;
mod program;
mod refusals;
mod restart;
