//! What the server serves: one [`Resource`] per group, version and plural, built-in or custom.
//!
//! Values only. Which resources exist at a moment is the [`Registry`]'s to say.

mod decode;
mod registry;
mod served;

pub(crate) use self::{
    registry::{Registry, Resources},
    served::{Column, CustomType, GroupResource, Origin, Resource, ScalePaths},
};
