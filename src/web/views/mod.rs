//! The JSON forms of several paths. Their docs are the descriptions in the `OpenAPI` document.

mod cache;
mod configuration;
mod migration;
mod object;
mod operator;
mod pause;
mod serving;

pub(super) use cache::CacheView;
pub(super) use configuration::ConfigurationView;
pub(super) use object::{KeyView, ObjectView, Time, TypeView};
pub(super) use operator::OperatorView;
pub(super) use pause::PauseView;
pub(super) use serving::ServingView;
