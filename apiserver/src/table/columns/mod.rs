//! The columns of built-in types, those of the real server: each type has what `kubectl get` prints of it.
//!
//! ```text
//!  group, plural ─> workloads | core | networking | storage | cluster | control ─> columns, each with the way to its cell
//! ```
//!
//! **Invariant**: a cell is a function of the object and the time. Types without columns of their own have name and
//! age. What columns are said to show stands in a data file.

mod cluster;
mod column;
mod control;
mod core;
mod definition;
mod descriptions;
mod networking;
mod pod;
mod storage;
mod workloads;

use self::column::{AGE, CREATED_AT, NAME};
pub(super) use self::{
    column::BuiltInColumn, control::COMPONENT, descriptions::of as descriptions,
};
use super::cells;

/// The columns of the scale of any type.
pub(super) const SCALE: &[BuiltInColumn] = &[
    NAME,
    ("Desired", "integer", 0, |o, _| cells::number(&o["spec"]["replicas"])),
    ("Available", "integer", 0, |o, _| cells::number(&o["status"]["replicas"])),
    AGE,
];

/// Whether the columns are those of types that have none of their own.
pub(super) fn is_plain(group: &str, plural: &str) -> bool {
    matches!(of(group, plural), [(name, ..), (created, ..)] if (*name, *created) == ("Name", "Created At"))
}

/// The columns of a type.
pub(super) fn of(group: &str, plural: &str) -> &'static [BuiltInColumn] {
    let found = match (group, plural) {
        ("", "limitranges") => Some(&[NAME, CREATED_AT][..]),
        ("apiextensions.k8s.io", "customresourcedefinitions") => Some(definition::DEFINITION),
        ("storagemigration.k8s.io", "storageversionmigrations") => Some(definition::MIGRATION),
        ("", _) => workloads::core(plural).or_else(|| core::columns(plural)),
        ("apps" | "batch" | "autoscaling", _) => workloads::columns(plural),
        ("events.k8s.io", _) => core::columns(plural),
        ("networking.k8s.io" | "discovery.k8s.io", _) => networking::columns(plural),
        ("storage.k8s.io", _) => storage::columns(plural),
        _ => cluster::columns(plural).or_else(|| control::columns(plural)),
    };
    found.unwrap_or(&[NAME, AGE])
}
