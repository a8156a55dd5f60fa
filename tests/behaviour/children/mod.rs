//! Children are equal to what the handler returns: what counts as a difference and what does not.

mod built_in_types;
mod desired;
mod differential;
mod ensured;
mod initial_fields;
mod jobs;
mod lists;
mod own_options;
mod sizes;
