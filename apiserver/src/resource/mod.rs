//! What the server serves: one [`Resource`] per group, version and plural, built-in or custom.
//!
//! Values only. The [`Registry`] has the resources that exist at a moment.

mod decode;
mod forms;
mod registry;
mod scale_paths;
mod served;
mod subresource;

pub(crate) use self::{
    forms::{Form, Forms},
    registry::{Registry, Resources, stability},
    scale_paths::ScalePaths,
    served::{Column, CustomType, Origin, Resource, Validators},
    subresource::Subresource,
};
