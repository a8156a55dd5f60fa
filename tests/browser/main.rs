//! The page in a real browser: views, live updates, layout, keyboard, and without script.
//!
//! The browser is Debian's `chromium` with `chromium-driver`, and npm installs axe-core. Without them the tests are
//! ignored; with `CI` set they fail.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod axe;
mod browser;
mod driver;
mod shop;
mod visit;

mod commands;
mod keyboard;
mod live;
mod login;
mod looks;
mod pictures;
mod views;

fn main() -> ExitCode {
    operetta_harness::main()
}
