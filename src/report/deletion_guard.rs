//! The condition and the message for held deletions.

use super::shown::shown;
use crate::{
    object::Object,
    operator::{ALLOW_DELETION_ANNOTATION, Condition},
    plan::{Deletion, Exceeded, HeldDeletions},
};

/// The type of the condition, and the reason of the Event.
pub(super) const CONDITION: &str = "DeletionsHeld";

/// The reason of the condition, which identifies it as set by Operetta.
const REASON: &str = "TooManyDeletions";

/// The part of the message that identifies a hold by the budget of a minute.
pub(crate) const OF_THE_MINUTE: &str = "the operator may delete";

const LONGEST_GIVEN: usize = 32;

/// The most children named.
const NAMED: usize = 3;

pub(crate) fn described(parent: &Object, held: &HeldDeletions, deletions: &[&Deletion]) -> String {
    let HeldDeletions { deletions: count, of, why, code, is_new: _ } = held;
    let why = match why {
        Exceeded::Reconcile { allowed } => format!("a reconcile may delete {allowed}"),
        Exceeded::Minute { allowed, of } => {
            format!("{OF_THE_MINUTE} {allowed} of its {of} within a minute")
        }
    };
    let names: Vec<_> = deletions.iter().take(NAMED).map(|one| one.id.to_string()).collect();
    let more = deletions.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "{count} of {of} children would be deleted, but {why}: none was deleted ({}{more}){}; to \
         allow it: {}",
        names.join(", "),
        wrong_approval(parent),
        command(parent, code)
    )
}

/// The part about an annotation that allows other deletions.
fn wrong_approval(parent: &Object) -> String {
    let given = parent.annotations().remove(ALLOW_DELETION_ANNOTATION);
    given.map_or_else(String::new, |given| {
        let given: String = given.chars().take(LONGEST_GIVEN).collect();
        format!(
            "; the annotation {ALLOW_DELETION_ANNOTATION} is {given:?}, which does not allow them"
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

pub(super) fn condition(message: &str) -> Condition {
    Condition::new(CONDITION, true, REASON, message)
}

pub(super) fn is_shown(parent: &Object) -> bool {
    shown_message(parent).is_some()
}

pub(crate) fn shown_message(parent: &Object) -> Option<String> {
    let shown = shown(parent, CONDITION)?;
    (shown["reason"] == REASON).then(|| shown["message"].as_str().unwrap_or_default().to_owned())
}
