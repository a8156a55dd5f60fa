//! Handles a change of an immutable field: recreates the child where the child type allows it. Decides only;
//! the deletion is carried out with the others.

use super::task::Refused;
use crate::{
    object::Object,
    plan::{Deletion, Write, instead_of_immutable},
    reply::{ApiError, Refusal},
    run::module_view::View,
};

/// Whether the child may be deleted. Only once for each desired state: if the new object is refused as well,
/// deleting does not help. And only for fields that the operator changes: others were changed by an admission.
pub(super) fn is_allowed(Refused { write, error }: &Refused, view: &View<'_>) -> bool {
    write.config.recreate_if_immutable
        && error.refusal().is_some_and(|refusal| refusal.is_immutable() && is_asked(refusal, write))
        && view.memory.recreated().get(&write.id) != Some(&write.desired_hash)
}

/// Whether the write changes each refused field.
fn is_asked(refusal: &Refusal, write: &Write) -> bool {
    let is_asked = |field: &str| write.paths.iter().any(|path| meet(field, path));
    write.paths.is_empty() || refusal.causes.iter().all(|cause| is_asked(&cause.field))
}

/// Whether one of two paths is inside the other: that of a cause (`spec.clusterIPs[0]`), and of a difference
/// (`.spec.clusterIP`). The server names the list of a value and its only item alike.
fn meet(field: &str, path: &str) -> bool {
    fn names(path: &str) -> impl Iterator<Item = &str> {
        let name = |part| str::split(part, '[').next().unwrap_or_default().trim_end_matches('s');
        path.split('.').map(name)
    }
    let path = path.trim_start_matches('.');
    matches!(field, "" | "<nil>") || names(field).zip(names(path)).all(|(one, other)| one == other)
}

/// The deletion that makes room for the new object; `None` if the refusal stands.
pub(super) fn deletion(
    Refused { write, error }: &Refused,
    live: &Object,
    view: &View<'_>,
) -> Option<Deletion> {
    let fields = error.refusal()?.causes.iter().map(|cause| cause.field.clone()).collect();
    let (config, name) = (view.settings.config(), view.settings.name());
    instead_of_immutable(config, name, view.parent, write, live, fields)
}

/// What to do about a refused immutable field; empty for other errors.
pub(super) fn hint(write: &Write, error: &ApiError) -> &'static str {
    if write.config.leaves_immutable(&write.id.ty)
        && error.refusal().is_some_and(Refusal::is_immutable)
    {
        "; set `ChildConfig::recreate_if_immutable` to recreate the child"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_meets_the_differences_in_its_field_and_around_it() {
        for (field, path, expected) in [
            ("spec.selector", ".spec.selector.matchLabels.a", true),
            ("spec", ".spec.template.spec.containers[0].image", true),
            ("spec.clusterIPs[0]", ".spec.clusterIP", true),
            ("spec.template.spec.x", ".spec", true),
            ("data", ".data[\"a.b\"]", true),
            ("<nil>", ".spec.key", true),
            ("spec.selector", ".metadata.labels.a", false),
            ("spec.selector", ".spec.replicas", false),
            ("roleRef", ".subjects", false),
        ] {
            assert_eq!(meet(field, path), expected, "{field} {path}");
        }
    }
}
