//! The testkit as users have it: their tests write, wait until the operators have settled, and assert.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod business_hours;
mod clock;
mod purity;
mod ready;
mod scenario;
mod settled;
mod support;
