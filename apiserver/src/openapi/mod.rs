//! `OpenAPI`: what `kubectl explain`, `apply` and code generators read, in version 3 (a document for each group
//! version) and version 2 (one document).
//!
//! ```text
//!  data file ── definitions ─────────────────────────┐
//!  discovery ── operations ── paths ── (text) ───────┼─ document (v3) ── version_2
//!  registry ─── custom: schemas of custom types ─────┘
//! ```
//!
//! **Invariants**: a document holds the definitions that its paths refer to, and those that they refer to. A version of
//! a document changes with what it is made of.

mod content;
mod custom;
mod definitions;
mod document;
mod downgrade;
mod form;
mod index;
mod media;
mod message;
mod naming;
mod operation;
mod parameter;
mod paths;
mod place;
mod protobuf;
mod shared_parameter;
mod version_2;

pub(crate) use self::{
    document::document,
    form::Version,
    index::{index, made_of, version},
    version_2::document as version_2,
};
