//! The lines of the log that say who has done what over HTTP.

/// The target of the lines that say who has ordered what over HTTP, who has logged in, and which log
/// filter was put in force: `operetta::audit`. No filter of [`LogLevel`](super::LogLevel) should hide them.
pub const AUDIT: &str = "operetta::audit";
