//! Many Kubernetes operators, one process.

pub mod object;
pub mod operator;
pub mod plan;
pub mod schedule;
pub mod store;
