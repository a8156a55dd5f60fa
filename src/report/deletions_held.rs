//! The condition and the message for held deletions.

use super::{problem::kubectl, shown::reason_shown};
use crate::{
    journal::Unapproved,
    object::Object,
    operator::{ALLOW_DELETION_ANNOTATION, Condition},
    plan::{ChildId, Deletion, Exceeded, HeldDeletions},
};

/// The type of the condition, and the reason of the Event.
pub(super) const CONDITION: &str = "DeletionsHeld";

/// The limit that a condition shows as exceeded. Its reason names the limit, and identifies the condition as set by
/// Operetta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExceededLimit {
    Reconcile,
    Minute,
}

const LONGEST_GIVEN: usize = 32;

/// The most children named.
const NAMED: usize = 3;

/// What is said about held deletions, and the command that allows them.
pub(crate) fn unapproved(
    parent: &Object,
    held: HeldDeletions,
    deletions: &[&Deletion],
) -> Unapproved {
    let HeldDeletions { deletions: count, of, why, code, is_new: _ } = &held;
    let limit = match why {
        Exceeded::Reconcile { allowed } => format!("a reconcile may delete {allowed}"),
        Exceeded::Minute { allowed, of } => {
            format!("the operator may delete {allowed} of its {of} within a minute")
        }
    };
    let names: Vec<_> = deletions.iter().take(NAMED).map(|one| one.id.to_string()).collect();
    let more = deletions.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let why = format!(
        "{count} of {of} children would be deleted, but {limit}: none was deleted ({}{more}){}",
        names.join(", "),
        wrong_approval(parent)
    );
    let approval = format!("{ALLOW_DELETION_ANNOTATION}={code}");
    let approve = kubectl::with("annotate", &ChildId::of(parent), &["--overwrite", &approval]);
    let children = deletions.iter().map(|deletion| deletion.id.clone()).collect();
    Unapproved { held, children, why, approve }
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

pub(super) fn condition(why: Exceeded, message: &str) -> Condition {
    let limit = match why {
        Exceeded::Reconcile { .. } => ExceededLimit::Reconcile,
        Exceeded::Minute { .. } => ExceededLimit::Minute,
    };
    Condition::new(CONDITION, true, limit.reason(), message)
}

/// The limit that the condition of a parent shows; `None` without the condition.
pub(crate) fn shown_limit(parent: &Object) -> Option<ExceededLimit> {
    let reason = reason_shown(parent, CONDITION)?;
    [ExceededLimit::Reconcile, ExceededLimit::Minute]
        .into_iter()
        .find(|limit| limit.reason() == reason)
}

impl ExceededLimit {
    const fn reason(self) -> &'static str {
        match self {
            Self::Reconcile => "TooManyDeletions",
            Self::Minute => "TooManyDeletionsPerMinute",
        }
    }
}
