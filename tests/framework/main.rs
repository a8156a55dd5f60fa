//! What holds of the whole repository, and the framework as programs and tests use it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod documents;
mod kubernetes_versions;
mod layering;
mod monitoring;
mod porting;
mod prelude;
mod proofs;
mod registered;
mod run_operator;
mod runtime;
mod testkit;
mod threat_model;
mod walk;
