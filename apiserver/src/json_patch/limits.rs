//! The limits of a patch: what all of its operations may use together.

use serde_json::Value;

use crate::{
    deep,
    json_weight::{self, TREE_LIMIT},
};

/// How many bytes of JSON all copies of a patch may have together.
const COPY_LIMIT: usize = 3 * 1024 * 1024;
/// How many values all operations of a patch may shift or look at together.
const SHIFT_LIMIT: usize = 100_000_000;

/// An operation does not apply. The answer does not name the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inapplicable;

/// The part of its limits that a patch has used.
#[derive(Debug, Default)]
pub(super) struct Spent {
    copied: usize,
    weight: usize,
    shifted: usize,
}

impl Spent {
    /// Counts a copied value.
    pub(super) fn copy(&mut self, value: &Value) -> Result<(), Inapplicable> {
        self.copied += json_weight::json_length(value);
        self.weight += json_weight::of(value);
        if self.copied > COPY_LIMIT || self.weight > TREE_LIMIT {
            return Err(Inapplicable);
        }
        Ok(())
    }

    /// Counts the values of an addition, and refuses one that is too deep at its path.
    pub(super) fn deepen(&mut self, path: &str, value: &Value) -> Result<(), Inapplicable> {
        let (depth, count) = json_weight::depth(value);
        self.shift(count)?;
        let above = path.bytes().filter(|byte| *byte == b'/').count();
        if above + depth <= deep::limit() {
            return Ok(());
        }
        deep::stop();
        Err(Inapplicable)
    }

    /// Counts elements of a list that move to other indices.
    pub(super) fn shift(&mut self, elements: usize) -> Result<(), Inapplicable> {
        self.shifted += elements;
        if self.shifted > SHIFT_LIMIT { Err(Inapplicable) } else { Ok(()) }
    }
}
