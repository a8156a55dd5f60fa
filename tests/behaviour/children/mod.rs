//! Children are what the handler says: what counts as a difference, and what the server makes of it.

mod built_in_types;
mod desired;
mod differential;
mod lists;
mod sizes;
