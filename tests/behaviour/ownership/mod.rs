//! What is ours is repaired; what is not ours is never touched. Also when operators come and go.

mod ours_and_others;
mod releases;
pub(crate) mod takeover;
mod two_operators;
