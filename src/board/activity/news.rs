//! What is new in the history of a parent: pure. A reconcile that wrote nothing and ended as the one before costs a
//! few comparisons.

use std::{sync::Arc, time::SystemTime};

use super::entry::{What, is_write};
use crate::{
    history::{Decided, Decision, History, Outcome, Reconcile},
    object::ObjectKey,
};

/// What a reconcile means for the timeline.
#[derive(Debug)]
pub(super) enum News {
    Entry(SystemTime, What),
    /// The parent is paused, or no longer. `is_first`: nothing is known from before.
    Pause {
        at: SystemTime,
        is_paused: bool,
        is_first: bool,
    },
}

/// The news of the reconciles after this number, the oldest first.
pub(super) fn of(parent: &ObjectKey, history: &History, number: u64) -> Vec<News> {
    let mut news = Vec::new();
    let new = history.newest_first().take_while(|reconcile| reconcile.number > number);
    for ago in (0..new.count()).rev() {
        add(&mut news, parent, history, ago);
    }
    news
}

fn add(news: &mut Vec<News>, parent: &ObjectKey, history: &History, ago: usize) {
    let Some(reconcile) = history.newest_first().nth(ago) else { return };
    let before = || history.newest_first().skip(ago + 1);
    let at = reconcile.started + reconcile.duration;
    if !reconcile.decisions.is_empty() {
        let held = before().next().map_or(0, |before| awaiting(before));
        news.extend(decided(parent, reconcile, held).map(|what| News::Entry(at, what)));
    }
    if is_settled(reconcile) {
        let failed = before().find(|before| is_settled(before)).map(|before| error(before));
        let what = turned(parent, reconcile, failed.flatten().is_some());
        news.extend(what.map(|what| News::Entry(at, what)));
    }
    let is_paused = is_paused(reconcile);
    let was_paused = before().next().map(|before| self::is_paused(before));
    if is_paused != was_paused.unwrap_or_default() {
        news.push(News::Pause { at, is_paused, is_first: was_paused.is_none() });
    }
}

/// What was written, and deletions that are held now or no longer.
fn decided(
    parent: &ObjectKey,
    reconcile: &Reconcile,
    held_before: usize,
) -> impl Iterator<Item = What> {
    let (decisions, omitted) = (&reconcile.decisions, reconcile.omitted);
    let (held, parent) = (awaiting(reconcile), || parent.clone());
    let wrote = decisions.iter().any(is_write).then(|| What::Wrote {
        parent: parent(),
        decisions: Arc::clone(decisions),
        omitted,
    });
    let is_deleted = |one: &&Decision| one.what == Decided::Deleted;
    let deleted = decisions.iter().filter(is_deleted).count();
    let is_released = held == 0 && held_before > 0 && deleted > 0;
    let why = reconcile.message.clone();
    let held = (held > 0 && held_before == 0).then(|| What::Held {
        parent: parent(),
        children: held,
        why,
    });
    let released = is_released.then(|| What::Released { parent: parent(), children: deleted });
    [wrote, held, released].into_iter().flatten()
}

/// Whether the parent began to fail, or recovered.
fn turned(parent: &ObjectKey, reconcile: &Reconcile, failed: bool) -> Option<What> {
    let parent = || parent.clone();
    match (&reconcile.outcome, failed) {
        (Outcome::Failed { reason, message }, false) => {
            Some(What::Failing { parent: parent(), reason: *reason, message: message.clone() })
        }
        (Outcome::Failed { .. }, true) | (_, false) => None,
        (_, true) => Some(What::Recovered { parent: parent() }),
    }
}

fn error(reconcile: &Reconcile) -> Option<&str> {
    reconcile.error()
}

/// Whether its outcome says how the parent is: while it is written or paused, that is open.
fn is_settled(reconcile: &Reconcile) -> bool {
    !matches!(reconcile.outcome, Outcome::Wrote | Outcome::Paused | Outcome::Gone)
}

fn is_paused(reconcile: &Reconcile) -> bool {
    reconcile.outcome == Outcome::Paused
}

fn awaiting(reconcile: &Reconcile) -> usize {
    reconcile.decisions.iter().filter(|decision| decision.awaits_approval()).count()
}

#[cfg(test)]
mod tests;
