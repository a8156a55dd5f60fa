//! Children are repaired and foreign objects are never modified, also when operators change.

mod foreign_objects;
mod several_operators;
pub(crate) mod takeover;
mod two_operators;
mod upgrades;
