//! What a parent reports: conditions, its children, Events.

mod built_in_parents;
mod children;
mod conditions;
mod events;
pub(crate) mod refused;
mod refused_in_finalize;
