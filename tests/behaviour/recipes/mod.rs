//! The functions of `operetta::recipes` whose result depends on what the server makes of it.

mod checksum;
mod copies;
mod external;
mod overrides;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use operetta::prelude::*;

use crate::recipe::RECIPE;

/// An operator for these tests.
fn config(name: &str) -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new(name, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}
