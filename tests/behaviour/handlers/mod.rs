//! What handlers answer, and what becomes of their errors.

mod bad_input;
mod errors;
mod isolation;
mod responses;
