//! What the server makes of children, be it by an admission policy or because it keeps no such field: it
//! is said beside what is as desired, and where that is asked for told in an Event.

use super::{Context, Report, conditions, events};
use crate::{cluster::EventKind, object::Object, plan::Memos};

const REASON: &str = "Altered";

/// So many children are named in a text for people.
const MAX_NAMED: usize = 10;

/// One text for each child; of very many some.
pub(super) fn texts(memos: &Memos) -> Vec<String> {
    let altered = memos.altered();
    let more = altered.len().saturating_sub(MAX_NAMED);
    let told = altered.take(MAX_NAMED).map(|(id, paths)| {
        format!("{id}: the server has changed {} of what was applied", paths.join(", "))
    });
    let more = (more > 0).then(|| format!("{more} more children that the server has changed"));
    told.chain(more).collect()
}

/// Tells it once as long as it stays the same. What the parent shows already was told by an earlier
/// process: a restart over parents that are as they should be tells nothing.
pub(super) fn tell(context: &Context, parent: &Object, report: &mut Report) {
    if !context.config().normal_events {
        return;
    }
    let text = texts(&report.memory.memos).join("; ");
    let what = (!text.is_empty()).then(|| events::hash(&text));
    let troubles = report.memory.troubles_if(what.is_some());
    let told = troubles.and_then(|troubles| std::mem::replace(&mut troubles.told_altered, what));
    if what.is_some() && what != told && !is_shown(parent, &text) {
        events::tell(context, parent, (EventKind::Normal, REASON, text), report);
    }
}

fn is_shown(parent: &Object, text: &str) -> bool {
    let ready = conditions::shown(parent, conditions::READY);
    ready.is_some_and(|ready| ready["message"].as_str().is_some_and(|said| said.contains(text)))
}
