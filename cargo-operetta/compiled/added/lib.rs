//! What `cargo operetta add` writes to a package, compiled and tested as in that package: an operator whose type was changed,
//! two webhooks of it, and two versions. A test of `cargo-operetta` holds the files to what is written.

pub mod till;
pub mod webhooks;
