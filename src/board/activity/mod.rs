//! The timeline of all operators: what was written, repaired and held, what failed, and who did what.
//!
//! ```text
//! histories --news--+
//! pauses, Leases ---+--> Log (entries, within a limit) --Filter--> pieces --fold--> lines --> web
//! denials ----------+
//! ```
//!
//! Invariants:
//! - A reconcile that wrote nothing and ended as the one before adds nothing.
//! - An entry shares its texts with the history of its parent. Lines are made when somebody reads them.
//! - The entries take at most the memory of the limit, and so do those of each shelf its part of it.
//! - A filter selects before lines are folded: a line counts nothing that its reader may not see.

mod entry;
mod filter;
mod fold;
mod kind;
mod line;
mod log;
mod news;
mod piece;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

pub(crate) use self::{
    entry::{LeaderChange, Rejection},
    filter::ActivityFilter,
    kind::{ActivityKind, Shelf},
    line::{Line, Names},
    log::ActivityLimit,
};
use self::{
    entry::{What, short},
    log::Log,
    news::News,
};
use super::facts::Leadership;
use crate::{
    history::History,
    object::{K8sType, ObjectKey},
    operator::{OperatorName, Pause},
};

/// A page of the timeline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ActivityPage {
    /// The newest first.
    pub(crate) lines: Vec<Line>,
    /// How many lines match on all pages.
    pub(crate) total: usize,
    /// How many lines follow.
    pub(crate) remaining: usize,
    /// Where entries are missing: up to when they were dropped.
    pub(crate) dropped: Vec<(Shelf, SystemTime)>,
}

/// The timeline. Cheap to clone. Its lock is held to add one entry, or to copy their addresses.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity(Arc<Mutex<Log>>);

// === writing ===

impl Activity {
    pub(super) fn limit(&self, limit: ActivityLimit) {
        self.log().limit(limit);
    }

    /// Adds what is new in a history after the reconcile of this number.
    pub(super) fn reconciled(
        &self,
        (operator, parent): (&OperatorName, &ObjectKey),
        (history, number): (&History, u64),
        (is_operator_paused, pause): (bool, Option<&Pause>),
    ) {
        let news = news::of(parent, history, number);
        if news.is_empty() {
            return;
        }
        let mut log = self.log();
        for one in news {
            match one {
                News::Entry(at, what) => log.push(at, Some(operator), what),
                News::Pause { is_paused: true, .. } if is_operator_paused => {}
                News::Pause { is_paused, is_first: true, .. } => {
                    log.is_new(operator, parent, is_paused);
                }
                News::Pause { at, is_paused, is_first: false } => {
                    let why = pause.and_then(Pause::reason).map(short);
                    log.parent_paused(at, (operator, parent), is_paused, (None, why));
                }
            }
        }
    }

    pub(super) fn parent_paused(
        &self,
        parent: (&OperatorName, &ObjectKey),
        is_paused: bool,
        (by, why): (Option<&str>, Option<&str>),
    ) {
        let said = (by.map(short), why.map(short));
        self.log().parent_paused(SystemTime::now(), parent, is_paused, said);
    }

    pub(super) fn deletions_allowed(
        &self,
        (operator, parent): (&OperatorName, &ObjectKey),
        by: Option<&str>,
    ) {
        let what = What::Allowed { parent: parent.clone(), by: by.map(short) };
        self.log().push(SystemTime::now(), Some(operator), what);
    }

    pub(super) fn operator_paused(
        &self,
        at: SystemTime,
        operator: &OperatorName,
        (by, why): (Option<&str>, Option<&str>),
    ) {
        let (by, why) = (by.map(short), why.map(short));
        self.log().push(at, Some(operator), What::Paused { parent: None, by, why });
    }

    pub(super) fn operator_resumed(&self, operator: &OperatorName, by: Option<&str>) {
        let what = What::Resumed { parent: None, by: by.map(short) };
        self.log().push(SystemTime::now(), Some(operator), what);
    }

    pub(super) fn registered(&self, operator: &OperatorName, parent: &K8sType) {
        self.log().registered(SystemTime::now(), operator, parent);
    }

    pub(super) fn unregistered(&self, operator: &OperatorName) {
        let mut log = self.log();
        log.forget_operator(operator);
        log.push(SystemTime::now(), Some(operator), What::Unregistered);
    }

    pub(super) fn led(&self, operators: &[OperatorName], leadership: &Leadership) {
        let Leadership { lease, leads, holder, .. } = leadership;
        self.log().leader(SystemTime::now(), operators, lease, (*leads, holder.as_deref()));
    }

    pub(super) fn denied(&self, user: &str, access: &str) {
        let what = What::Denied { user: short(user), access: short(access) };
        self.log().push(SystemTime::now(), None, what);
    }

    pub(super) fn rejected(&self, rejection: &Rejection) {
        let Rejection { operator, object, user, why } = rejection;
        let what = What::Rejected { object: object.clone(), user: short(user), why: short(why) };
        self.log().push(SystemTime::now(), operator.as_ref(), what);
    }

    /// A later parent of that name is another one.
    pub(super) fn forget(&self, operator: &OperatorName, parent: &ObjectKey) {
        self.log().is_new(operator, parent, false);
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === reading ===

impl Activity {
    /// The lines that match, before the one of a number.
    pub(super) fn page(
        &self,
        filter: &ActivityFilter,
        before: Option<u64>,
        limit: usize,
    ) -> ActivityPage {
        let log = self.log();
        let (entries, dropped) = (log.entries(), log.dropped());
        drop(log);
        let text = filter.text.as_deref().map(str::to_lowercase);
        let wanted = entries.iter().filter(|entry| filter.wants_entry(entry));
        let pieces = wanted.flat_map(|entry| piece::pieces(entry));
        let mut lines = fold::fold(pieces.filter(|it| filter.wants(it, text.as_deref())));
        let total = lines.len();
        lines.retain(|line| before.is_none_or(|before| line.number < before));
        let remaining = lines.len().saturating_sub(limit);
        lines.truncate(limit);
        ActivityPage { lines, total, remaining, dropped }
    }
}

#[cfg(test)]
mod tests;
