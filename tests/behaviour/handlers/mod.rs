//! Answers and errors of handlers.

mod bad_input;
mod errors;
mod isolation;
mod responses;
