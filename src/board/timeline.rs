//! The timeline of the board: what is recorded beside reconciles, and reading it.

use super::{
    Board,
    activity::{ActivityFilter, ActivityLimit, ActivityPage, Rejection},
};
use crate::{
    object::ObjectKey,
    operator::{OperatorName, Pause},
};

impl Board {
    /// Sets how much of the timeline is kept.
    pub(crate) fn limit_activity(&self, limit: ActivityLimit) {
        self.activity.limit(limit);
    }

    /// Records that a user paused a parent, or without a pause that the user resumed it.
    pub(crate) fn record_pause(
        &self,
        parent: (&OperatorName, &ObjectKey),
        pause: Option<&Pause>,
        by: Option<&str>,
    ) {
        let why = pause.and_then(Pause::reason);
        self.activity.parent_paused(parent, pause.is_some(), (by, why));
    }

    /// Records that a user allowed the deletions of a parent that are held.
    pub(crate) fn record_approval(
        &self,
        (operator, parent): (&OperatorName, &ObjectKey),
        by: Option<&str>,
    ) {
        self.activity.deletions_allowed((operator, parent), by);
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

    /// Records that a webhook of this process denied a request.
    pub(crate) fn record_rejection(&self, rejection: &Rejection) {
        self.activity.rejected(rejection);
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
