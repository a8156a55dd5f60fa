//! Connections: how they begin and end, what they may carry, and what ends with them.

mod endings;
mod large;
mod raw;
