//! Values that hold no other values, and how they are read.

pub(super) mod float;
mod go_address;
pub(super) mod named_format;
pub(super) mod network;
pub(super) mod semver;
pub(super) mod time;
pub(super) mod url;
