//! What is said of deletions that are held because they are too many.

use super::shown::shown;
use crate::{
    object::Object,
    operator::{ALLOW_DELETION_ANNOTATION, Condition},
    plan::{Deletion, Exceeded, HeldDeletions},
};

/// The type of the condition, and the reason of the Event.
pub(super) const CONDITION: &str = "DeletionsHeld";

/// The reason of the condition, by which it is known as ours.
const REASON: &str = "TooManyDeletions";

/// The words by which a hold of the minute is known: the reconcile itself wanted no more than its share.
pub(crate) const OF_THE_MINUTE: &str = "the operator may delete";

/// So much of a value that allows nothing is quoted.
const LONGEST_GIVEN: usize = 32;

/// So many children are named.
const NAMED: usize = 3;

/// The sentence about them.
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
pub(crate) fn said(parent: &Object) -> Option<String> {
    let shown = shown(parent, CONDITION)?;
    (shown["reason"] == REASON).then(|| shown["message"].as_str().unwrap_or_default().to_owned())
}
