//! The parents whose children lack the label of their bucket.

use std::{collections::VecDeque, time::Instant};

use crate::object::Uid;

/// The parents whose children are to be labelled, with the numbers of these.
#[derive(Default)]
pub(super) struct ToLabel {
    pub(super) parents: VecDeque<(Uid, usize)>,
    pub(super) children: usize,
    pub(super) done: usize,
    /// How many more may be labelled now; negative after a parent with many children.
    pub(super) spare: i64,
    pub(super) shown: Option<Instant>,
}
