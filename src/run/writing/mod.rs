//! Writes: dry runs and live reads, then writes that are sent together, then deletions one by one. The failure of one
//! child does not stop the others.
//!
//! ```text
//! plan --> checks --> writes --> deletions --> report
//!            |          |
//!            |          `-- turns: which step goes first
//!            `-- paused, outdated --> report
//! ```

mod checks;
mod deletions;
mod step;
mod turns;
mod writes;

pub(super) use step::ChildStep;
