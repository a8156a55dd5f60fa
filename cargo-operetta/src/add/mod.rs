//! `cargo operetta add`: another operator, type of children, webhook or version, in the package of the current folder.
//!
//! **Invariants.** All texts are made before the first file is written: what cannot be added leaves the package as it is.

mod child;
mod operator;
mod version;
mod webhook;

#[cfg(test)]
mod tests;

use std::path::Path;

use clap::Subcommand;

use self::{child::Child, operator::Operator, version::Version, webhook::Webhook};

#[derive(Debug, Subcommand)]
pub(crate) enum Add {
    /// Another operator in the same program: a module with type, handler and declaration, tests, an example.
    Operator(Operator),
    /// Another type of children of an operator.
    Child(Child),
    /// A function that the API server calls before it stores a parent, with tests.
    Webhook(Webhook),
    /// A new version of the parents of an operator, with conversions from and to the version before, and a test of them.
    Version(Version),
}

pub(crate) fn add(add: Add, folder: &Path) -> anyhow::Result<()> {
    match add {
        Add::Operator(operator) => operator::add(operator, folder),
        Add::Child(child) => child::add(&child, folder),
        Add::Webhook(webhook) => webhook::add(&webhook, folder),
        Add::Version(version) => version::add(&version, folder),
    }
}
