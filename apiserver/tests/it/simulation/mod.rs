//! Simulated workloads, seen by a client. Everything happens at once, or when a test moves the clock.

mod deployments;
mod jobs;
mod others;
mod pods;
mod stateful_sets;
mod world;
