//! Before children are deleted: too many of them wait for a person. Says so where a user looks.

use std::{collections::HashSet, time::Instant};

use super::{Context, Report, conditions::shown, events, ours};
use crate::{
    cluster::EventKind,
    object::{Object, Uid},
    operator::{ALLOW_DELETION_ANNOTATION, ChildState, Condition, DeletionLimit},
    plan::{
        Deletion, Exceeded, HeldDeletions, Interlock, Step, Taken, Verdict, WantedDeletions, judge,
    },
};

/// The type of the condition, and the reason of the Event.
pub(super) const CONDITION: &str = "DeletionsHeld";

/// The reason of the condition, by which it is known as ours.
const REASON: &str = "TooManyDeletions";

/// The words by which a hold of the minute is known: the run itself wanted no more than its share.
const OF_THE_MINUTE: &str = "the operator may delete";

/// So much of a value that allows nothing is quoted.
const LONGEST_GIVEN: usize = 32;

/// So many children are named.
const NAMED: usize = 3;

/// The steps that may be carried out, and what their deletions take from the operator's minute.
/// `is_part`: not all is known that is to be deleted.
pub(super) fn admit(
    context: &Context,
    parent: &Object,
    mut steps: Vec<Step>,
    (existing, is_part): (usize, bool),
    report: &mut Report,
) -> (Vec<Step>, Option<Taken>) {
    let Some(limit) = context.config().deletion_limit else {
        report.memory.interlock = Some(Interlock::default());
        return (steps, None);
    };
    let deletions: Vec<&Deletion> = steps.iter().filter_map(Step::final_deletion).collect();
    if is_part && deletions.is_empty() && report.memory.interlock.is_none() {
        // What an earlier process left is told by those that are to go.
        return (steps, None);
    }
    let wanted = WantedDeletions { limit, parent, deletions: &deletions, existing, is_part };
    let resumed = || resumed(context, parent, limit, &deletions);
    let memory = report.memory.interlock.get_or_insert_with(resumed);
    let mut taken = None;
    let verdict = judge(wanted, memory, |count| {
        let children = || context.count_children();
        taken = Some(context.minute().take(limit.minute, count, Instant::now(), children)?);
        Ok(())
    });
    match verdict {
        Verdict::Free | Verdict::Taken(_) => (steps, taken),
        Verdict::Held(held) => {
            let message = described(parent, &held, &deletions);
            say(context, parent, &held, &message, report);
            for deletion in &deletions {
                let why = "its deletion waits for a person";
                report.told.say(&deletion.id, ChildState::Held, &why);
            }
            report.waiting.push(message.clone());
            report.interlock = Some(message);
            steps.retain(|step| step.final_deletion().is_none());
            (steps, None)
        }
    }
}

/// What an earlier process may have left. Not every parent can say that deletions are held, and a
/// process can end before it did: what is newer than all that is to go may be what replaces it, and
/// makes the share no smaller.
fn resumed(
    context: &Context,
    parent: &Object,
    limit: DeletionLimit,
    deletions: &[&Deletion],
) -> Interlock {
    let mut interlock = Interlock::default();
    let said = said(parent);
    let is_of_minute = said.as_ref().is_some_and(|message| message.contains(OF_THE_MINUTE));
    if is_of_minute && limit.minute.percent < 100 {
        let of = context.count_children();
        let why = Exceeded::Minute { allowed: limit.minute.of(of), of };
        let uids = deletions.iter().map(|deletion| deletion.uid.clone()).collect();
        interlock.resume_minute(why, uids);
    }
    if said.is_some() && !is_of_minute {
        interlock.resume(0);
    } else if !deletions.is_empty() {
        let going: HashSet<&Uid> = deletions.iter().map(|deletion| &deletion.uid).collect();
        let children = ours(context, parent, &context.observed(parent));
        let children: Vec<&Object> = children.iter().filter(|child| !child.is_deleting()).collect();
        let goes = |child: &&&Object| going.contains(child.uid());
        let newest = children.iter().filter(goes).map(|child| child.created()).max();
        let old = children.iter().filter(|child| Some(child.created()) <= newest).count();
        interlock.resume(old);
    }
    interlock
}

/// Gives back what was taken and not deleted.
pub(super) fn settle(context: &Context, taken: Option<Taken>, report: &Report) {
    if let Some(taken) = taken {
        context.minute().give_back(taken, report.deleted);
    }
}

fn say(
    context: &Context,
    parent: &Object,
    held: &HeldDeletions,
    message: &str,
    report: &mut Report,
) {
    if !held.is_new {
        return;
    }
    context.metrics().deletions_held(context.name(), held.deletions);
    tracing::warn!(operator = %context.name(), parent = %parent.key(), reason = CONDITION,
        "{message}");
    let event = (EventKind::Warning, CONDITION, message.to_owned());
    events::tell(context, parent, event, report);
}

fn described(parent: &Object, held: &HeldDeletions, deletions: &[&Deletion]) -> String {
    let HeldDeletions { deletions: count, of, why, code, is_new: _ } = held;
    let why = match why {
        Exceeded::Run { allowed } => format!("a run may delete {allowed}"),
        Exceeded::Minute { allowed, of } => {
            format!("{OF_THE_MINUTE} {allowed} of its {of} within a minute")
        }
    };
    let names: Vec<_> = deletions.iter().take(NAMED).map(|one| one.id.to_string()).collect();
    let more = deletions.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "{count} of {of} children would be deleted, and {why}: none is ({}{more}){}; if that is \
         meant: {}",
        names.join(", "),
        allowed_in_vain(parent),
        command(parent, code)
    )
}

/// What somebody has written who wants to allow them, or had allowed others.
fn allowed_in_vain(parent: &Object) -> String {
    let given = parent.annotations().remove(ALLOW_DELETION_ANNOTATION);
    given.map_or_else(String::new, |given| {
        let given: String = given.chars().take(LONGEST_GIVEN).collect();
        format!(
            "; the annotation {ALLOW_DELETION_ANNOTATION} is {given:?}, which allows none of them"
        )
    })
}

fn command(parent: &Object, code: &str) -> String {
    let (ty, name) = (parent.ty().resource_name(), parent.name());
    let namespace = parent.namespace().map(|name| format!(" -n {name}")).unwrap_or_default();
    format!(
        "kubectl annotate {ty} {name}{namespace} --overwrite {ALLOW_DELETION_ANNOTATION}={code}"
    )
}

/// The condition of a parent with deletions that are held.
pub(super) fn condition(message: &str) -> Condition {
    Condition::new(CONDITION, true, REASON, message)
}

/// Whether the parent still says that we hold deletions.
pub(super) fn is_said(parent: &Object) -> bool {
    said(parent).is_some()
}

/// The message by which it says so.
fn said(parent: &Object) -> Option<String> {
    let shown = shown(parent, CONDITION)?;
    (shown["reason"] == REASON).then(|| shown["message"].as_str().unwrap_or_default().to_owned())
}
