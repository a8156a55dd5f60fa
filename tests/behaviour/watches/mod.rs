//! What operators watch, in which namespaces and with which permissions.

mod manifests;
mod missed;
mod missing_type;
mod permissions;
mod permissions_of_all;
mod scopes;
mod selection;
mod sharing;
