//! What a parent reports: conditions, its readiness, its children, Events.

mod built_in_parents;
mod children;
mod conditions;
mod events;
mod readiness;
mod refused;
mod refused_child;
mod repaired;
