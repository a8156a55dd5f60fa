//! Many Kubernetes operators, one process.

pub mod board;
pub mod cluster;
pub mod history;
pub mod metrics;
pub mod object;
pub mod operator;
pub mod plan;
pub mod reconcile;
pub mod schedule;
pub mod store;
