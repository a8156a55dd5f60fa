//! One version of one Kubernetes object, held as its JSON.

mod lookup;
mod managed;
mod metadata_fields;
mod object;
mod outline;
mod packed;
mod passed_over;
mod sample;
mod samples;
mod shared;
mod typed;

pub use managed::KeptManagers;
pub use object::{Object, ParseObjectError};
pub(crate) use outline::Outline;
pub use typed::ParseAsError;

#[cfg(test)]
mod tests;
