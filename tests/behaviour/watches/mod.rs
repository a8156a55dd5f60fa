//! What operators watch, in which namespaces and with which permissions.

mod manifests;
mod missed;
mod missing_type;
mod other_scope;
mod permissions;
mod scopes;
mod selection;
mod sharing;
