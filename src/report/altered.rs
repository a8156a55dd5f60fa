//! What the server makes of children, be it by an admission policy or because it keeps no such field: it
//! is said beside what is as desired, and where that is asked for told in an Event.

use super::{conditions::READY, shown::shown};
use crate::{object::Object, plan::LastApplied};

/// So many children are named in a text for people.
const MAX_NAMED: usize = 10;

/// One text for each child; of very many some.
pub(super) fn texts(last_applied: &LastApplied) -> Vec<String> {
    let altered = last_applied.altered();
    let more = altered.len().saturating_sub(MAX_NAMED);
    let told = altered.take(MAX_NAMED).map(|(id, paths)| {
        format!("{id}: the server has changed {} of what was applied", paths.join(", "))
    });
    let more = (more > 0).then(|| format!("{more} more children that the server has changed"));
    told.chain(more).collect()
}

/// Whether the parent shows it already: an earlier process announced it then.
pub(super) fn is_shown(parent: &Object, text: &str) -> bool {
    let ready = shown(parent, READY);
    ready.is_some_and(|ready| ready["message"].as_str().is_some_and(|said| said.contains(text)))
}
