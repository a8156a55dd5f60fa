//! Answers and errors of handlers.

mod asynchronous;
mod bad_input;
mod errors;
mod events;
mod isolation;
mod responses;
mod typed;
