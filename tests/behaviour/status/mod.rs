//! What a parent says about itself: conditions, its children, Events.

mod children;
mod conditions;
mod events;
pub(crate) mod refused;
mod refused_in_finalize;
mod shared;
