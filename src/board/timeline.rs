//! The timeline of the board: what is recorded beside reconciles, and reading it.

use super::{
    Board,
    activity::{ActivityFilter, ActivityLimit, ActivityPage},
};
use crate::{object::ObjectKey, operator::OperatorName};

impl Board {
    /// Sets how much of the timeline is kept.
    pub(crate) fn limit_activity(&self, limit: ActivityLimit) {
        self.activity.limit(limit);
    }

    /// Records that a user paused a parent, or resumed it.
    pub(crate) fn record_pause(
        &self,
        parent: (&OperatorName, &ObjectKey),
        is_paused: bool,
        by: Option<&str>,
    ) {
        self.activity.parent_paused(parent, is_paused, by);
    }

    /// Shows an operator as resumed, and records by whom.
    pub(crate) fn resume_operator(&self, name: &OperatorName, by: Option<&str>) {
        self.activity.operator_resumed(name, by);
        self.set_paused(name, None);
    }

    /// Records that a user of the web endpoint lacks a permission.
    pub(crate) fn record_denial(&self, user: &str, access: &str) {
        self.activity.denied(user, access);
    }

    /// A page of the timeline: the lines that match, before the one of a number.
    pub(crate) fn activity(
        &self,
        filter: &ActivityFilter,
        before: Option<u64>,
        limit: usize,
    ) -> ActivityPage {
        self.activity.page(filter, before, limit)
    }
}
