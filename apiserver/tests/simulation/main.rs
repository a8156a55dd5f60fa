//! Simulated workloads, seen by a client. Everything happens at once, or when a test moves the clock.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "objects are written where they are passed")]

#[path = "../common/mod.rs"]
mod common;
mod deployments;
mod jobs;
mod others;
mod pods;
mod stateful_sets;
mod world;
