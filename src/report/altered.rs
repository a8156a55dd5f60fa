//! Children that the server stores differently than applied, because of an admission policy or unknown
//! fields. Reported beside children that are up to date, and by an Event if Normal Events are enabled.

use super::shown::shown;
use crate::{
    object::Object,
    operator::{READY, SYNCED},
    plan::LastApplied,
};

/// The most children named in a message.
const MAX_NAMED: usize = 10;

/// One message for each child, up to a limit.
pub(super) fn texts(last_applied: &LastApplied) -> Vec<String> {
    let altered = last_applied.altered();
    let more = altered.len().saturating_sub(MAX_NAMED);
    let named = altered.take(MAX_NAMED).map(|(id, paths)| {
        format!("{id}: the server has changed {} of what was applied", paths.join(", "))
    });
    let more = (more > 0).then(|| format!("{more} more children that the server has changed"));
    named.chain(more).collect()
}

/// Whether the parent already shows it: an earlier process announced it.
pub(super) fn is_shown(parent: &Object, text: &str) -> bool {
    // Older versions had no `Synced`.
    let synced = shown(parent, SYNCED).or_else(|| shown(parent, READY));
    synced.is_some_and(|synced| {
        synced["message"].as_str().is_some_and(|message| message.contains(text))
    })
}
