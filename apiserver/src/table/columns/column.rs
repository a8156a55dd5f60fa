//! A column of a built-in type, and those that many types have.

use jiff::Timestamp;
use serde_json::Value;

use crate::table::cells;

/// Heading, type, priority (above zero: `-o wide` only), and the way to the cell.
pub(in crate::table) type BuiltInColumn =
    (&'static str, &'static str, i64, fn(&Value, Timestamp) -> Value);

pub(super) const NAME: BuiltInColumn = ("Name", "string", 0, |o, _| o["metadata"]["name"].clone());
pub(super) const AGE: BuiltInColumn = ("Age", "string", 0, cells::created);
pub(super) const CREATED_AT: BuiltInColumn =
    ("Created At", "date", 0, |o, _| o["metadata"]["creationTimestamp"].clone());
