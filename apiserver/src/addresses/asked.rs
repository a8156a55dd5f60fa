//! What a write asks for, what is taken, and why a Service cannot have it.

use std::{collections::BTreeSet, net::Ipv4Addr};

use serde_json::Value;

use crate::schema::FieldError;

/// What Services have.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) addresses: BTreeSet<Ipv4Addr>,
    pub(super) ports: BTreeSet<i64>,
    /// Where the search for the next free address begins.
    pub(super) hint: u32,
}

/// How a write asks for what it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The Service before the write.
    pub(crate) live: Option<&'a Value>,
    /// Whether nothing is written.
    pub(crate) dry_run: bool,
    /// Ranges of addresses beside the usual one.
    pub(crate) ranges: &'a [String],
}

/// A Service cannot have an address or port.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    /// It asks for what it cannot have.
    Invalid(FieldError),
    /// The server cannot give it.
    Internal(String),
    /// It names one port twice.
    Twice(String),
}
