//! What others hold: objects, fields, deletions, and the end of objects.

use super::{kubectl, name::renamed, trouble::Trouble};
use crate::{
    history::Action,
    journal::{ParentConflict, Wait},
    operator::ConflictPolicy,
    plan::{
        ChildId, Contested, FlappingReason, FlappingSummary, ForeignChild, HeldField, WaitingReason,
    },
};

/// The most fields named.
const FIELDS: usize = 3;

pub(super) fn foreign(child: &ForeignChild) -> Trouble {
    let trouble = Trouble::of(&child.id, "exists and belongs to somebody else")
        .because(child.owner.clone())
        .because("it is not modified");
    if child.is_claimed {
        return trouble.cured_by([Action::in_code(
            "Return it from one operator only, or name the other one in `Predecessor::field_managers` if it is gone for good",
        )]);
    }
    let words = if child.has_controller() {
        "Delete it, if its owner does not need it"
    } else {
        "Delete it, if nobody needs it; the operator then creates its own"
    };
    let adopt = child
        .is_adoptable
        .then(|| Action::in_code("Or adopt it: `ChildConfig::apply().adopting()`"));
    trouble
        .cured_on_each("delete", words)
        .cured_by(adopt)
        .cured_by([Action::in_code("Or give the child another name")])
}

/// Fields of a child that others own, where the policy reports it.
pub(super) fn contested(Contested { id, held, policy, .. }: &Contested) -> Option<Trouble> {
    (*policy == ConflictPolicy::Report).then(|| {
        Trouble::of(id, format!("is not written: others own {}", fields(held)))
            .because(owners(held))
            .cured_by(release(id, held))
            .cured_by([Action::in_code(
                "Or choose another policy for the child type: `with_conflicts(ConflictPolicy::Force)`",
            )])
    })
}

pub(super) fn parent_conflict(parent: &ChildId, conflict: &ParentConflict) -> Trouble {
    let ParentConflict { operator, held } = conflict;
    Trouble::of(parent, format!("has fields that others own: {}", fields(held)))
        .because(format!("{}; {operator} did not write them", owners(held)))
        .cured_by(release(parent, held))
        .cured_by([Action::in_code("Or let only one of them set each field")])
}

fn fields(held: &[HeldField]) -> String {
    let named: Vec<&str> = held.iter().take(FIELDS).map(|it| it.path.as_str()).collect();
    match held.len().saturating_sub(FIELDS) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn owners(held: &[HeldField]) -> String {
    let owned = held.iter().take(FIELDS).map(|field| match &field.manager {
        Some(manager) => format!("{manager} set {}", field.path),
        None => format!("another manager set {}", field.path),
    });
    owned.collect::<Vec<_>>().join("; ")
}

/// Takes the managers out of `managedFields`: their fields then belong to nobody.
fn release(id: &ChildId, held: &[HeldField]) -> Vec<Action> {
    let mut managers: Vec<&str> = held.iter().filter_map(|it| it.manager.as_deref()).collect();
    managers.sort_unstable();
    managers.dedup();
    if managers.is_empty() || managers.iter().any(|name| name.contains(['"', '\\', '\''])) {
        return Vec::new();
    }
    let is_theirs: Vec<String> =
        managers.iter().map(|name| format!(".manager == {name:?}")).collect();
    let (get, replace) = (kubectl::on("get", id), "kubectl replace -f -");
    let command = format!(
        "{get} -o json --show-managed-fields | jq 'del(.metadata.managedFields[] | select({}))' | {replace}",
        is_theirs.join(" or ")
    );
    let text =
        format!("Release the fields of {}, so that the operator may set them", managers.join(", "));
    vec![Action::command(text, command)]
}

/// What is written again and again.
pub(super) fn flapping(
    parent: &ChildId,
    FlappingSummary { why, message }: &FlappingSummary,
) -> Trouble {
    let trouble = Trouble::of(parent, format!("is written again and again: {message}"))
        .because("its writes are delayed more and more until this ends");
    let stop = Action::text("Stop the other writer, or leave the fields to it");
    let code = match why {
        FlappingReason::FightingOverFields => {
            "Or leave the fields to it: remove them from the response, or set \
             `with_conflicts(ConflictPolicy::Yield)` for the child type"
        }
        FlappingReason::FightingOverStatus => "Or share the status with it: `sharing_status`",
        FlappingReason::FightingOverFinalizer => {
            "The finalizer belongs to the operator: let nobody else set it"
        }
        FlappingReason::UnstableHandler => {
            return trouble.cured_by([Action::in_code(
                "Return the same response for the same request: read no clock, and use no random values",
            )]);
        }
    };
    trouble.cured_by([stop, Action::in_code(code)])
}

/// A child that waits, where somebody can end the wait.
pub(super) fn waiting(child: &ChildId, why: &Wait) -> Option<Trouble> {
    match why {
        Wait::Planned(WaitingReason::Deleting { finalizers }) if !finalizers.is_empty() => {
            Some(terminating(child, finalizers))
        }
        Wait::Planned(WaitingReason::OnDelete { paths }) => Some(
            Trouble::of(child, format!("is outdated: {}", paths.join(", ")))
                .because("its type is changed only when an object is deleted")
                .cured_on_each("delete", "Delete it, and the operator creates it again"),
        ),
        Wait::Planned(WaitingReason::Deleting { .. } | WaitingReason::TypeNotSynced)
        | Wait::Paused { .. }
        | Wait::EndPaused
        | Wait::Throttled
        | Wait::Writes
        | Wait::Others(_)
        | Wait::Behind(_)
        | Wait::Rollout(_)
        | Wait::RolloutStopped
        | Wait::BehindDeletion(_) => None,
    }
}

/// An object whose finalizers are not removed.
pub(super) fn terminating(id: &ChildId, finalizers: &[String]) -> Trouble {
    let names = finalizers.join(", ");
    let text = format!("If what owns {names} no longer runs, remove the finalizers");
    let patch =
        kubectl::with("patch", id, &["--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#]);
    Trouble::of(id, format!("is being deleted and waits for the finalizers {names}"))
        .because("whoever added them has to remove them")
        .cured_by([Action::command(text, patch)])
}

/// A child whose name is made from that of its parent and does not fit.
pub(super) fn misnamed(child: &ChildId, parent: &ChildId, why: &str) -> Trouble {
    Trouble::of(child, "cannot have this name: metadata.name")
        .because(why)
        .because("it is made from the name of the parent")
        .cured_by([renamed(parent), Action::in_code("Make names with `recipes::NameRule`")])
}
